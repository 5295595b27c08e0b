"""This module holds the package: a tool that somebody wrote as JSON and an admin installed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

PREFIX = "installed__"
"""An installed package is the code `installed__<slug>`, for workflows and for grants alike."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Package:
    """A package's row. `config` keeps its placeholders: no secret is ever in it."""

    slug: str
    name: str
    type: str
    description: str = ""
    package_version: str = "1.0.0"
    config: Mapping[str, Any] = field(default_factory=dict[str, Any])
    input_schema: Mapping[str, Any] | None = None
    category: str = ""
    icon: str = ""
    author: str = ""
    enabled: bool = True
    last_test: Mapping[str, Any] | None = None
    """`{at, success, error}` of the newest test; None: never tested."""
    installed_at: datetime
    version: int = 1

    @property
    def code(self) -> str:
        return code_of(self.slug)


@dataclass(frozen=True, kw_only=True, slots=True)
class PackageDraft:
    """The supported fields of a package's JSON, checked."""

    slug: str
    name: str
    type: str
    description: str = ""
    package_version: str = "1.0.0"
    config: Mapping[str, Any] = field(default_factory=dict[str, Any])
    input_schema: Mapping[str, Any] | None = None
    category: str = ""
    icon: str = ""
    author: str = ""


class PackageStore(Protocol):
    """Packages by slug."""

    async def install(self, draft: PackageDraft) -> Package:
        """Raises Conflict, with the installed row untouched, when the slug exists."""
        ...

    async def replace(
        self,
        draft: PackageDraft,
        *,
        expected_version: int | None = None,
        released_by: int | None = None,
    ) -> Package:
        """Put another definition under an installed slug; what was granted stays granted.

        `released_by`: in the same moment the pins of its tools are released in this user's name.
        Raises NotFound, or Conflict with the current row when the version differs.
        """
        ...

    async def find(self, slug: str) -> Package | None: ...

    async def list(self, *, after: str = "", limit: int = 200) -> Sequence[Package]:
        """By slug."""
        ...

    async def update(self, slug: str, changes: Mapping[str, Any]) -> Package:
        """`changes` may hold `enabled` and `last_test`. Raises NotFound."""
        ...

    async def delete(self, slug: str, *, expected_version: int | None = None) -> bool:
        """Agents and capabilities lose the package's code: whoever takes the slug is another.

        False: it is not there. Raises Conflict with the current row when the version differs.
        """
        ...

    async def using(self, secret: str) -> Sequence[str]:
        """Slugs of packages whose config names the secret."""
        ...


def code_of(slug: str) -> str:
    return PREFIX + slug


def slug_of(code: str) -> str | None:
    """The slug of an `installed__<slug>` code; None for any other code."""
    slug = code.removeprefix(PREFIX)
    return slug if slug != code and slug else None
