"""This module makes one package of an `mcp_*` type a source with one tool."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from toolcrib.errors import NotFound
from toolcrib.tools.call import Call
from toolcrib.tools.remote import Trouble
from toolcrib.tools.result import Output
from toolcrib.tools.source import Listing, Preview, Skip

if TYPE_CHECKING:
    from toolcrib.sources.mcp.packages import McpPackageKind


class PackageSource:
    """One package's tool, as a Source."""

    def __init__(self, kind: McpPackageKind, definition: Mapping[str, Any]) -> None:
        self._kind = kind
        self._definition = definition

    async def list(self) -> Listing:
        found = await self._kind.discover(self._definition)
        if isinstance(found, Trouble):
            slug = str(self._definition["slug"])
            skip = Skip(ref=slug, reason=found.reason, fix="Look at the server.", brief=found.brief)
            return Listing(tools=(), skipped=(skip,))
        return Listing(tools=[one.spec for one in found])

    async def call(self, name: str, call: Call) -> Output:
        if name != self._definition["slug"]:
            raise NotFound(f"This package has no tool {name!r}.")
        return await self._kind.call(self._definition, call)

    async def preview(self, name: str, arguments: Mapping[str, Any]) -> Preview | None:
        """A conversation is no single request that could be shown."""
        return None

    async def close(self) -> None:
        """Connections belong to the pool."""
