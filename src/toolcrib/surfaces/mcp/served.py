"""This module is the port between the protocol and the tools that are served through it."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import Protocol

from toolcrib.identity.caller import Caller
from toolcrib.invocation.flight import Outcome
from toolcrib.platform import Platform
from toolcrib.resolution.toolset import Toolset
from toolcrib.tools.call import AskPerson, Log, Progress, no_log, no_progress
from toolcrib.tools.record import record


@record
class Back:
    """The ways back to the client while its call runs."""

    progress: Progress = no_progress
    log: Log = no_log
    ask: AskPerson | None = None


SILENT = Back()
"""For a client that wants to hear nothing before the result."""


class Served(Protocol):
    """The tools of one agent as one caller has them, or those of a plugin that stands alone."""

    @property
    def key(self) -> Hashable:
        """Equal for those who see the same tools."""
        ...

    @property
    def owner(self) -> str:
        """Equal for those who may share a session of the older era."""
        ...

    @property
    def who(self) -> Hashable:
        """The user, at whichever agent; None where nobody is told from another."""
        ...

    @property
    def label(self) -> str:
        """What the client is shown as the name of all this."""
        ...

    async def toolset(self) -> Toolset:
        """What is offered now. Raises NotFound, GroupRequired."""
        ...

    async def now(self) -> Served:
        """The same for the same user as they are by now: a session lasts for hours. Raises
        NotFound, NotGranted for one who would not be let in any more."""
        ...

    async def call(self, name: str, arguments: object, back: Back) -> Outcome:
        """Raises NotFound for a name that is not offered; what the tool does is the Outcome."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class AgentTools:
    """The tools of an agent, for a caller who is in no chat."""

    platform: Platform
    agent_id: int
    caller: Caller

    @property
    def key(self) -> Hashable:
        who = self.caller
        return (
            self.agent_id,
            who.user_id,
            who.role,
            who.group_ids,
            who.group_id,
            who.agent_id,
            who.context,
        )

    @property
    def owner(self) -> str:
        who = self.caller
        return f"{self.agent_id}/{who.user_id}/{who.group_id}/{who.agent_id}"

    @property
    def who(self) -> Hashable:
        return self.caller.user_id

    @property
    def label(self) -> str:
        return f"agent {self.agent_id}"

    async def toolset(self) -> Toolset:
        return await self.platform.resolve(self.agent_id, self.caller)

    async def now(self) -> AgentTools:
        then, users = self.caller, self.platform.authenticator
        user = await users.caller_for(then.user_id)
        user = await users.acting(user, user_id=None, group_id=then.group_id)
        caller = replace(
            then,
            role=user.role,
            group_ids=user.group_ids,
            entitlements=user.entitlements,
        )
        await self.platform.resolver.agent(self.agent_id, caller)
        return replace(self, caller=caller)

    async def call(self, name: str, arguments: object, back: Back) -> Outcome:
        return await self.platform.invoke(
            self.agent_id,
            name,
            arguments,
            self.caller,
            surface="mcp",
            progress=back.progress,
            log=back.log,
            ask=back.ask,
        )
