"""This module shows the MCP servers of installed packages: to admins all of them, to others those
behind tools that they can have."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace

from toolcrib.catalog.packages import Package, PackageStore
from toolcrib.desk.capabilities import Capabilities
from toolcrib.errors import NotFound, ToolcribError
from toolcrib.grants.agents import AgentStore
from toolcrib.grants.decide import INSTALLATION, decide, of_capability
from toolcrib.grants.groups import usual_group
from toolcrib.identity.caller import Caller
from toolcrib.resolution.holding import Holding
from toolcrib.resolution.installed import InstalledPackages, PackageKinds, definition_of
from toolcrib.sources.mcp.packages import McpPackageKind
from toolcrib.tools.remote import ServerState
from toolcrib.tools.source import Bundle

_PAGE = 200


class PackageServers:
    """Packages that are tools of MCP servers, by slug."""

    def __init__(
        self,
        *,
        packages: PackageStore,
        kinds: PackageKinds,
        installed: InstalledPackages,
        agents: AgentStore,
        capabilities: Capabilities,
        holding: Holding,
    ) -> None:
        self._packages = packages
        self._kinds = kinds
        self._installed = installed
        self._agents = agents
        self._capabilities = capabilities
        self._holding = holding

    async def list(self, caller: Caller, *, after: str, limit: int) -> Sequence[ServerState]:
        """By slug. All are looked at together, so none delays another."""
        codes = None if decide(caller, "see", INSTALLATION) else await self._codes(caller)
        chosen: list[Package] = []
        while len(chosen) < limit:
            page = await self._packages.list(after=after, limit=_PAGE)
            chosen += [one for one in page if self._is_server(one) and _is_in(codes, one.code)]
            if len(page) < _PAGE:
                break
            after = page[-1].slug
        return await asyncio.gather(*(self._state(caller, one) for one in chosen[:limit]))

    async def refresh(self, caller: Caller, slug: str) -> ServerState:
        """Connect if need be and read the list of tools now. Raises NotFound."""
        package = await self._packages.find(slug)
        codes = None if decide(caller, "see", INSTALLATION) else await self._codes(caller)
        if package is None or not self._is_server(package) or not _is_in(codes, package.code):
            raise NotFound(f"There is no server 'package:{slug}'.")
        return await self._state(caller, package, refresh=True)

    def _is_server(self, package: Package) -> bool:
        return isinstance(self._kinds.get(package.type), McpPackageKind)

    async def _state(
        self, caller: Caller, package: Package, *, refresh: bool = False
    ) -> ServerState:
        unknown = ServerState(ref=f"package:{package.slug}", label=package.name, status="disabled")
        kind = self._kinds[package.type]
        if not package.enabled or not isinstance(kind, McpPackageKind):
            return unknown
        try:
            state = await kind.state(
                definition_of(package),
                user_id=caller.user_id,
                group_id=usual_group(caller),
                refresh=refresh,
            )
        except ToolcribError as error:
            return replace(unknown, status="failed", error=(error.code, str(error)))
        return await self._sifted(package, state) if state.tools else state

    async def _sifted(self, package: Package, state: ServerState) -> ServerState:
        """Without the tool whose definition must be accepted first."""
        bundle = await self._installed.find(package.slug)
        if not isinstance(bundle, Bundle):
            return state
        [(sifted, _)] = await self._holding.sift([(bundle, None)])
        held = {one.spec.name: one.hold for one in sifted.offers if one.hold is not None}
        return replace(state, tools=[name for name in state.tools if name not in held], held=held)

    async def _codes(self, caller: Caller) -> set[str]:
        """The codes behind which the caller can have tools."""
        return {code async for code in self._held(caller)}

    async def _held(self, caller: Caller) -> AsyncIterator[str]:
        after = 0
        while rows := await self._capabilities.list(caller, after=after, limit=_PAGE):
            for row in rows:
                if not row.archived and decide(caller, "use", of_capability(row)):
                    for code in row.codes:
                        yield code
            after = rows[-1].id
        after = 0
        while agents := await self._agents.list(
            group_ids=caller.group_ids, creator_id=caller.user_id, after=after, limit=_PAGE
        ):
            for agent in agents:
                for code in agent.codes:
                    yield code
            after = agents[-1].id


def _is_in(codes: set[str] | None, code: str) -> bool:
    """None stands for all."""
    return codes is None or code in codes
