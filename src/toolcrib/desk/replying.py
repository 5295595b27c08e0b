"""This module answers a chat's message: an `@tool:` call is run, and its result is the reply."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from toolcrib.agents.chats import Chat, ChatStore, Message
from toolcrib.agents.direct import DirectCall, read_direct_call
from toolcrib.errors import InvalidRequest
from toolcrib.identity.caller import Caller
from toolcrib.invocation.flight import Outcome
from toolcrib.resolution.resolve import Resolver
from toolcrib.resolution.toolset import Toolset
from toolcrib.tools.private import without

_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


class Invoke(Protocol):
    """Calls a tool of an agent by the name the agent sees; `timeout` is in seconds."""

    async def __call__(
        self,
        agent_id: int,
        name: str,
        arguments: object,
        caller: Caller,
        /,
        *,
        surface: str,
        timeout: float | None = None,  # noqa: ASYNC109 - the call's own deadline
        configurable: Mapping[str, Any] | None = None,
    ) -> Outcome: ...


class Replying:
    """Replies to direct calls, without a model."""

    def __init__(self, *, chats: ChatStore, resolver: Resolver, invoke: Invoke) -> None:
        self._chats = chats
        self._resolver = resolver
        self._invoke = invoke

    async def reply(self, caller: Caller, chat: Chat, content: str) -> Message:
        """The stored reply. Raises InvalidRequest, with nothing stored, for any other text."""
        call = read_direct_call(content)
        agent = await self._resolver.agent(chat.agent_id, caller)
        if call is None:
            raise InvalidRequest(
                f"No model answers in this chat: {agent.model!r} takes only direct calls here.",
                where="content",
                hint='Call a tool yourself: @tool:name({"argument": "value"}).',
            )
        _, toolset = await self._resolver.for_agent(chat.agent_id, caller)
        kept = _kept(content, call, toolset)
        await self._chats.add_message(chat_id=chat.id, role="user", content=kept)
        if toolset.find(call.name) is None:
            return await self._say(chat, _unknown(call.name, toolset))
        outcome = await self._invoke(
            chat.agent_id, call.name, call.arguments, caller, surface="chat"
        )
        text = storable(outcome.output.text)
        return await self._say(chat, text, [_record(call, outcome, toolset, text)])

    async def _say(
        self, chat: Chat, text: str, tool_calls: Sequence[Mapping[str, Any]] = ()
    ) -> Message:
        return await self._chats.add_message(
            chat_id=chat.id, role="assistant", content=text, tool_calls=tool_calls
        )


def storable(text: str) -> str:
    """The text without what no database keeps: NUL and halves of surrogate pairs."""
    clean = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return clean.replace("\0", _REPLACEMENT)


def _kept(content: str, call: DirectCall, toolset: Toolset) -> str:
    """What the chat keeps of a call: all but the arguments that are for the tool alone."""
    tool = toolset.find(call.name)
    if tool is None or not tool.private.intersection(call.arguments):
        return content
    shown = json.dumps(without(call.arguments, tool.private), ensure_ascii=False)
    return f"@tool:{call.name}({shown})"


def _record(call: DirectCall, outcome: Outcome, toolset: Toolset, text: str) -> Mapping[str, Any]:
    called = call.arguments if outcome.tool == call.name else {}
    arguments = outcome.arguments or called
    return {
        "call_id": outcome.call_id,
        "name": outcome.tool,
        "arguments": without(arguments, _private(toolset, call.name, outcome.tool)),
        "success": outcome.success,
        "text": text,
    }


def _private(toolset: Toolset, *names: str) -> frozenset[str]:
    """What no record shows of the tool that was named, nor of the one that ran."""
    found = [toolset.find(name) for name in names]
    return frozenset[str]().union(*(tool.private for tool in found if tool is not None))


def _unknown(name: str, toolset: Toolset) -> str:
    offered = ", ".join(toolset.offered) or "none"
    return f"There is no tool {name!r} here. Tools of this agent: {offered}."
