"""This module offers an agent's tools: listed, called, and explained to whoever misses one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from toolcrib.agents.chats import Chat
from toolcrib.desk.entering import Entrance
from toolcrib.desk.reach import within_reach
from toolcrib.desk.replying import Invoke
from toolcrib.desk.showing import shown_to
from toolcrib.errors import InvalidRequest, NotFound
from toolcrib.grants.decide import INSTALLATION, decide, of_user
from toolcrib.identity.accounts import UserStore
from toolcrib.identity.authentication import caller_from
from toolcrib.identity.caller import Caller
from toolcrib.invocation.flight import Outcome
from toolcrib.resolution.explain import ExplainStep, Explanation, explain
from toolcrib.resolution.offering import Shelf
from toolcrib.resolution.resolve import Resolver
from toolcrib.resolution.toolset import Toolset
from toolcrib.tools.source import Preview


class Tools:
    """What an agent's user gets, and the way to call it."""

    def __init__(
        self,
        *,
        resolver: Resolver,
        invoke: Invoke,
        entrance: Entrance,
        users: UserStore,
        shelf: Shelf,
    ) -> None:
        self._resolver = resolver
        self._invoke = invoke
        self._entrance = entrance
        self._users = users
        self._shelf = shelf

    async def list(
        self,
        caller: Caller,
        agent_id: int,
        *,
        chat_id: int | None = None,
        context: Mapping[str, Any] | None = None,
    ) -> Toolset:
        """Raises NotFound, GroupRequired, InvalidRequest."""
        placed = await self._placed(caller, agent_id, chat_id, None, context)
        _, toolset = await self._resolver.for_agent(agent_id, placed)
        return toolset

    async def call(
        self,
        caller: Caller,
        agent_id: int,
        name: str,
        arguments: object,
        *,
        chat_id: int | None = None,
        chat_uuid: str | None = None,
        context: Mapping[str, Any] | None = None,
        surface: str = "rest",
        timeout: float | None = None,  # noqa: ASYNC109 - the call's own deadline
        configurable: Mapping[str, Any] | None = None,
    ) -> Outcome:
        """Call a tool by its exposed name or its ref; what the tool does is in the Outcome.

        Raises NotFound, GroupRequired, InvalidRequest. `timeout` is in seconds.
        """
        placed = await self._placed(caller, agent_id, chat_id, chat_uuid, context)
        if "/" in name:
            name = await self._exposed(placed, agent_id, name)
        return await self._invoke(
            agent_id,
            name,
            arguments,
            placed,
            surface=surface,
            timeout=timeout,
            configurable=configurable,
        )

    async def preview(
        self,
        caller: Caller,
        agent_id: int,
        name: str,
        arguments: object,
        *,
        chat_id: int | None = None,
    ) -> Preview:
        """What a call would send, as far as the caller may know it; nothing is sent.

        Raises NotFound, InvalidArguments, InvalidRequest for a tool that sends no request.
        """
        placed = await self._placed(caller, agent_id, chat_id, None, None)
        _, toolset = await self._resolver.for_agent(agent_id, placed)
        found = toolset.find(name) or next(
            (tool for tool in toolset.tools.values() if tool.ref == name), None
        )
        if found is None:
            raise NotFound(
                f"Agent {agent_id} has no tool {name!r} for you.",
                hint=f"GET /api/v1/agents/{agent_id}/tools lists them, and says what is missing.",
            )
        given = found.checker.check(arguments)
        preview = await found.preview(given) if found.preview else None
        if preview is None:
            raise InvalidRequest(
                f"{name!r} runs in Python: there is no request to show.",
                hint="Tools of type api and packages can be previewed.",
            )
        return shown_to(caller, preview, kind=found.kind)

    async def explain(
        self, caller: Caller, agent_id: int, tool: str, *, user_id: int | None = None
    ) -> Explanation:
        """Why the user, the caller unless named, has the tool or has it not.

        Raises NotFound for a user whom the caller does not administer.
        """
        await self._resolver.agent(agent_id, caller)
        asked = caller
        if user_id is not None and user_id != caller.user_id:
            user = await self._users.find(user_id)
            found = within_reach(user, caller, user and of_user(user), what=f"user {user_id}")
            asked = replace(caller_from(found), group_id=caller.group_id)
        placed = await self._entrance.outside(asked, None)
        try:
            _, toolset = await self._resolver.for_agent(agent_id, placed)
        except NotFound:
            return _out_of_reach(agent_id, asked)
        return explain(toolset, tool, codes_of_tool=self._codes(caller, tool))

    async def _placed(
        self,
        caller: Caller,
        agent_id: int,
        chat_id: int | None,
        chat_uuid: str | None,
        context: Mapping[str, Any] | None,
    ) -> Caller:
        if chat_id is None:
            if chat_uuid is not None:
                raise InvalidRequest("A chat_uuid comes with its chat_id.", where="chat_uuid")
            return await self._entrance.outside(caller, context)
        chat = await self._entrance.chat(caller, chat_id)
        _check_chat(chat, agent_id, chat_uuid)
        if context is not None:
            raise InvalidRequest(
                "A call in a chat uses the chat's context.",
                where="context",
                hint="Leave context out, or chat_id.",
            )
        return self._entrance.inside(caller, chat)

    async def _exposed(self, caller: Caller, agent_id: int, ref: str) -> str:
        _, toolset = await self._resolver.for_agent(agent_id, caller)
        return next((tool.name for tool in toolset.tools.values() if tool.ref == ref), ref)

    def _codes(self, caller: Caller, tool: str) -> Sequence[str]:
        """Codes that have the tool, for who may know what is installed."""
        if not decide(caller, "see", INSTALLATION):
            return ()
        bundles = [self._shelf.bundle(code) for code in self._shelf.codes()]
        return [b.code for b in bundles if b and tool in {o.spec.name for o in b.offers}]


def _check_chat(chat: Chat, agent_id: int, chat_uuid: str | None) -> None:
    if chat_uuid is not None and chat_uuid != chat.uuid:
        raise InvalidRequest(f"Chat {chat.id} has another uuid.", where="chat_uuid")
    if chat.agent_id != agent_id:
        raise InvalidRequest(
            f"Chat {chat.id} is with agent {chat.agent_id}, not with agent {agent_id}.",
            where="chat_id",
        )


def _out_of_reach(agent_id: int, asked: Caller) -> Explanation:
    detail = f"user {asked.user_id} may not use agent {agent_id}."
    step = ExplainStep(step="agent", verdict="stopped", detail=detail)
    return Explanation(visible=False, steps=[step])
