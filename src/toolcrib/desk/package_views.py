"""This module shows packages to admins: what is installed, and what an install would do."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from toolcrib.catalog.packages import Package
from toolcrib.errors import Conflict
from toolcrib.resolution.installed import PackageKinds, definition_of
from toolcrib.secrets.placeholders import SECRETS, needs
from toolcrib.secrets.vault import SecretStatus, Vault
from toolcrib.tools.source import Finding


@dataclass(frozen=True, kw_only=True, slots=True)
class PackageView:
    """A package as an admin sees it: the row, and what its secrets' status is."""

    package: Package
    secret_status: Mapping[str, SecretStatus]
    tools: Sequence[str]


@dataclass(frozen=True, kw_only=True, slots=True)
class PackagePreview:
    """What an install would do. `errors` keep the package from working, or from installing."""

    package: Mapping[str, Any]
    secret_status: Mapping[str, SecretStatus]
    ignored_fields: Sequence[str]
    warnings: Sequence[Finding]
    errors: Sequence[Finding]
    exists: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class InstalledNow:
    """The answer to an install."""

    view: PackageView
    warnings: Sequence[Finding]
    ignored_fields: Sequence[str]


class PackageViews:
    """Looks at packages, and at the status of the secrets that they name."""

    def __init__(self, *, kinds: PackageKinds, vault: Vault) -> None:
        self._kinds = kinds
        self._vault = vault

    @asynccontextmanager
    async def in_conflicts(self) -> AsyncGenerator[None]:
        """A conflict shows the present package as an admin sees it."""
        try:
            yield
        except Conflict as conflict:
            if isinstance(conflict.current, Package):
                conflict.current = await self.of(conflict.current)
            raise

    async def of(self, package: Package) -> PackageView:
        """The package as an admin sees it."""
        known = self._kinds.get(package.type) is not None
        return PackageView(
            package=package,
            secret_status=await self.secret_status(definition_of(package)["config"]),
            tools=[package.slug] if known else [],
        )

    async def secret_status(self, config: object) -> dict[str, SecretStatus]:
        return {name: await self._vault.status(name) for name in sorted(needs(config, SECRETS))}
