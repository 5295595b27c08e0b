"""This module reads a package with all that its own type has to say about it; nothing is asked
of a database or a network."""

from __future__ import annotations

from collections.abc import Sequence

from toolcrib.catalog.packages import PackageDraft
from toolcrib.resolution.installed import PackageKinds
from toolcrib.sources.http.package_document import TYPES, PackageReading, read_package
from toolcrib.sources.http.words import is_object
from toolcrib.tools.source import Finding


def read_for(kinds: PackageKinds, document: object) -> tuple[PackageReading, Sequence[Finding]]:
    """A package as it would be kept, and every finding. `kinds` are the types that run here."""
    reading = read_package(document)
    name = str(reading.package.get("type"))
    kind = kinds.get(name)
    if kind is not None:
        more = [one for one in kind.check(reading.package) if one not in reading.findings]
        return reading, [*reading.findings, *more]
    if name not in TYPES:
        return reading, reading.findings
    idle = Finding(
        where="type",
        message=f"Packages of type {name!r} can be installed and do not run here yet.",
        severity="warning",
    )
    return reading, [*reading.findings, idle]


def draft_of(reading: PackageReading) -> PackageDraft:
    """What is stored of a package that was read without refusal."""
    given = reading.package

    def text(key: str) -> str:
        value = given.get(key, "")
        return value if isinstance(value, str) else ""

    config, schema = given.get("config"), given.get("input_schema")
    return PackageDraft(
        slug=given["slug"],
        name=text("name") or given["slug"],
        type=given["type"],
        description=text("description"),
        package_version=text("version") or "1.0.0",
        config=config if is_object(config) else {},
        input_schema=schema if is_object(schema) else None,
        category=text("category"),
        icon=text("icon"),
        author=text("author"),
    )
