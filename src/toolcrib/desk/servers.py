"""This module shows the MCP servers of a caller's capabilities and packages, and looks at one anew.

Looking at a server pins what it lists, like any other look at its tools.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import replace

from toolcrib.catalog.capabilities import Capability
from toolcrib.desk.capabilities import Capabilities
from toolcrib.desk.server_packages import PackageServers
from toolcrib.errors import Conflict, NotFound
from toolcrib.grants.decide import decide, of_capability
from toolcrib.grants.groups import usual_group
from toolcrib.identity.caller import Caller
from toolcrib.resolution.holding import Holding, until_current
from toolcrib.resolution.servers import ServerProvider
from toolcrib.tools.call import Call
from toolcrib.tools.remote import ServerState
from toolcrib.tools.result import Output
from toolcrib.tools.source import Bundle, Offer

_PREFIX = "mcp:"
_NUMBER = re.compile(r"[0-9]{1,18}")
REFS = re.compile(rf"mcp:{_NUMBER.pattern}|package:[a-z][a-z0-9_]{{0,52}}")
"""What a ref looks like."""


class McpServers:
    """Servers as the caller connects to them: with their own settings, or their group's."""

    def __init__(
        self,
        *,
        capabilities: Capabilities,
        packages: PackageServers,
        provider: ServerProvider,
        holding: Holding,
    ) -> None:
        self._capabilities = capabilities
        self._packages = packages
        self._provider = provider
        self._holding = holding

    async def list(
        self, caller: Caller, *, after: str = "", limit: int = 50
    ) -> Sequence[ServerState]:
        """Behind the ref `after`: capabilities by id, then packages by slug.

        A token that is bound to an agent is shown none, as it is shown nothing of the installation.
        """
        if caller.agent_id is not None:
            return []
        kind, _, name = after.partition(":")
        states: list[ServerState] = []
        if kind != "package":
            states += await self._of_capabilities(caller, after=int(name or 0), limit=limit)
            name = ""
        if len(states) < limit:
            states += await self._packages.list(caller, after=name, limit=limit - len(states))
        return states

    async def _of_capabilities(
        self, caller: Caller, *, after: int, limit: int
    ) -> Sequence[ServerState]:
        """All are looked at together, so none delays another."""
        rows: list[Capability] = []
        while len(rows) < limit:
            page = await self._capabilities.list(caller, after=after, limit=200)
            rows += [row for row in page if _is_usable(row, caller)]
            if len(page) < 200:
                break
            after = page[-1].id
        return await asyncio.gather(*(self._state(caller, row) for row in rows[:limit]))

    async def refresh(self, caller: Caller, ref: str) -> ServerState:
        """Connect if need be and read the list of tools now. Raises NotFound."""
        if caller.agent_id is not None:
            raise NotFound(f"There is no server {ref!r}.")
        if ref.startswith("package:"):
            return await self._packages.refresh(caller, ref.removeprefix("package:"))
        number = ref.removeprefix(_PREFIX)
        if number == ref or not _NUMBER.fullmatch(number):
            hint = "A ref is mcp:<capability id> or package:<slug>."
            raise NotFound(f"There is no server {ref!r}.", hint=hint)
        row = await self._capabilities.get(caller, int(number))
        if not _is_usable(row, caller):
            raise NotFound(f"There is no server {ref!r}.")
        return await self._state(caller, row, refresh=True)

    async def _state(
        self, caller: Caller, row: Capability, *, refresh: bool = False
    ) -> ServerState:
        async def again() -> ServerState:
            now = await self._capabilities.get(caller, row.id)
            return await self._seen(caller, now, refresh=refresh)

        try:
            return await self._seen(caller, row, refresh=refresh)
        except Conflict:  # the row was changed since it was read
            return await until_current(again)

    async def _seen(self, caller: Caller, row: Capability, *, refresh: bool) -> ServerState:
        group = row.group_id if row.access_type == "group" else usual_group(caller)
        state = await self._provider.state(
            row, user_id=caller.user_id, group_id=group, refresh=refresh
        )
        offers = [Offer(spec=spec, run=_nothing) for spec in state.specs]
        bundle = Bundle(code=row.codes[0], kind="mcp", offers=offers, version=row.version)
        [(sifted, _)] = await self._holding.sift([(bundle, row.id)])
        return replace(
            state,
            tools=[offer.spec.name for offer in sifted.offers if offer.hold is None],
            held={o.spec.name: o.hold for o in sifted.offers if o.hold is not None},
        )


async def _nothing(call: Call) -> Output:
    """These offers are looked at and never called."""
    return Output.failed("internal", "This tool was only looked at.")


def _is_usable(row: Capability, caller: Caller) -> bool:
    """A server may only be connected to by who may use it: seeing the row is not enough."""
    return (
        row.type == "mcp" and not row.archived and bool(decide(caller, "use", of_capability(row)))
    )
