"""This module shows the MCP servers of installed packages: to admins all of them, to others those
behind tools that they can have."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from toolcrib.catalog.packages import Package, PackageStore
from toolcrib.desk.capabilities import Capabilities
from toolcrib.desk.package_codes import codes_in_reach, is_in
from toolcrib.errors import NotFound, ToolcribError
from toolcrib.grants.agents import AgentStore
from toolcrib.grants.groups import usual_group
from toolcrib.identity.caller import Caller
from toolcrib.resolution.holding import Holding, until_current
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
        codes = await self._codes(caller)
        chosen: list[Package] = []
        while len(chosen) < limit:
            page = await self._packages.list(after=after, limit=_PAGE)
            chosen += [one for one in page if self._is_server(one) and is_in(codes, one.code)]
            if len(page) < _PAGE:
                break
            after = page[-1].slug
        return await asyncio.gather(*(self._state(caller, one) for one in chosen[:limit]))

    async def refresh(self, caller: Caller, slug: str) -> ServerState:
        """Connect if need be and read the list of tools now. Raises NotFound."""
        package = await self._packages.find(slug)
        codes = await self._codes(caller)
        if package is None or not self._is_server(package) or not is_in(codes, package.code):
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
        if not state.tools:
            return state
        return await until_current(lambda: self._sifted(package, state))

    async def _sifted(self, package: Package, state: ServerState) -> ServerState:
        """Without the tool whose definition must be accepted first."""
        bundle = await self._installed.find(package.slug)
        if not isinstance(bundle, Bundle):
            return state
        [(sifted, _)] = await self._holding.sift([(bundle, None)])
        held = {one.spec.name: one.hold for one in sifted.offers if one.hold is not None}
        return replace(state, tools=[name for name in state.tools if name not in held], held=held)

    async def _codes(self, caller: Caller) -> set[str] | None:
        return await codes_in_reach(caller, capabilities=self._capabilities, agents=self._agents)
