"""This module shapes packages: what a Tool Manager shows of them."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal, Self

from pydantic import Field

from toolcrib.desk.package_views import InstalledNow, PackagePreview, PackageView
from toolcrib.surfaces.http.shapes.fields import Body, JsonObject, Row
from toolcrib.tools.source import Finding

Status = Literal["configured", "missing", "undecryptable"]


class FindingRow(Row):
    where: str
    message: str

    @classmethod
    def of(cls, finding: Finding) -> Self:
        return cls(where=finding.where, message=finding.message)


class LastTestRow(Row):
    at: datetime
    success: bool
    error: JsonObject | None


class PackageRow(Row):
    """A package's own fields, and what became of it here."""

    slug: str
    name: str
    type: str
    description: str
    version: str
    config: JsonObject
    input_schema: JsonObject | None
    category: str
    icon: str
    author: str
    enabled: bool
    secret_status: dict[str, Status]
    tools: list[str]
    last_test: LastTestRow | None = Field(description="null: never tested.")
    installed_at: datetime

    @classmethod
    def of(cls, view: PackageView) -> Self:
        package = view.package
        return cls(
            slug=package.slug,
            name=package.name,
            type=package.type,
            description=package.description,
            version=package.package_version,
            config=dict(package.config),
            input_schema=None if package.input_schema is None else dict(package.input_schema),
            category=package.category,
            icon=package.icon,
            author=package.author,
            enabled=package.enabled,
            secret_status=dict(view.secret_status),
            tools=list(view.tools),
            last_test=None
            if package.last_test is None
            else LastTestRow.model_validate(dict(package.last_test)),
            installed_at=package.installed_at,
        )


class InstalledAnswer(Row):
    slug: str
    enabled: bool
    secret_status: dict[str, Status]
    warnings: list[FindingRow]
    ignored_fields: list[str]

    @classmethod
    def of(cls, installed: InstalledNow) -> Self:
        return cls(
            slug=installed.view.package.slug,
            enabled=installed.view.package.enabled,
            secret_status=dict(installed.view.secret_status),
            warnings=[FindingRow.of(f) for f in installed.warnings],
            ignored_fields=list(installed.ignored_fields),
        )


class PackagePreviewAnswer(Row):
    package: JsonObject
    secret_status: dict[str, Status]
    ignored_fields: list[str]
    warnings: list[FindingRow]
    errors: list[FindingRow]
    exists: bool

    @classmethod
    def of(cls, preview: PackagePreview) -> Self:
        return cls(
            package=dict(preview.package),
            secret_status=dict(preview.secret_status),
            ignored_fields=list(preview.ignored_fields),
            warnings=[FindingRow.of(f) for f in preview.warnings],
            errors=[FindingRow.of(f) for f in preview.errors],
            exists=preview.exists,
        )


class PackageTestBody(Body):
    arguments: Any = Field(default=None, description="An object; null means no arguments.")
