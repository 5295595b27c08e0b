"""This module says which installed packages a caller may know of: admins all of them, others those
behind tools that they can have."""

from __future__ import annotations

from collections.abc import AsyncIterator

from toolcrib.desk.capabilities import Capabilities
from toolcrib.grants.agents import AgentStore
from toolcrib.grants.decide import INSTALLATION, decide, of_capability
from toolcrib.identity.caller import Caller

_PAGE = 200


async def codes_in_reach(
    caller: Caller, *, capabilities: Capabilities, agents: AgentStore
) -> set[str] | None:
    """The codes behind which the caller can have tools; None stands for all."""
    if decide(caller, "see", INSTALLATION):
        return None
    return {code async for code in _held(caller, capabilities, agents)}


def is_in(codes: set[str] | None, code: str) -> bool:
    return codes is None or code in codes


async def _held(
    caller: Caller, capabilities: Capabilities, agents: AgentStore
) -> AsyncIterator[str]:
    after = 0
    while rows := await capabilities.list(caller, after=after, limit=_PAGE):
        for row in rows:
            if not row.archived and decide(caller, "use", of_capability(row)):
                for code in row.codes:
                    yield code
        after = rows[-1].id
    after = 0
    while found := await agents.list(
        group_ids=caller.group_ids, creator_id=caller.user_id, after=after, limit=_PAGE
    ):
        for agent in found:
            for code in agent.codes:
                yield code
        after = found[-1].id
