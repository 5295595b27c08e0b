"""This module keeps an agent going when its model writes arguments that are not JSON."""

from __future__ import annotations

import json
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, InvalidToolCall, ToolMessage

from toolcrib.errors import MissingExtra

try:
    from langchain.agents.middleware import AgentMiddleware, AgentState, hook_config
except ImportError:
    raise MissingExtra(
        "repair_invalid_tool_calls is for agents of langchain, which is not installed.",
        hint="pip install 'toolcrib[agents]'.",
    ) from None

ATTEMPTS = 3
"""Replies in a row that are sent back; then the agent ends as it would have without us."""


class RepairInvalidToolCalls(AgentMiddleware[Any, Any]):
    """Answers each call whose arguments are not JSON with an error that the model reads.

    Without it `create_agent` ends the run without a word when all calls of a reply are so.
    """

    @hook_config(can_jump_to=["model"])
    def after_model(self, state: AgentState[Any], runtime: Any) -> dict[str, Any] | None:
        messages = state["messages"]
        reply = messages[-1] if messages else None
        if not isinstance(reply, AIMessage) or not reply.invalid_tool_calls:
            return None
        if _failures(messages) > ATTEMPTS:
            return None
        answers = [_answer(call) for call in reply.invalid_tool_calls if call.get("id")]
        if not answers:
            return None
        # With valid calls beside it the tools run first; the model comes after them anyway.
        return {"messages": answers} | ({} if reply.tool_calls else {"jump_to": "model"})

    async def aafter_model(self, state: AgentState[Any], runtime: Any) -> dict[str, Any] | None:
        return self.after_model(state, runtime)


def _answer(call: InvalidToolCall) -> ToolMessage:
    name = call.get("name") or "unknown"
    return ToolMessage(
        f"{name} was not called: its arguments are {_fault(call.get('args') or '')}. "
        "Call it again with one JSON object.",
        name=name,
        tool_call_id=str(call["id"]),
        status="error",
    )


def _fault(arguments: str) -> str:
    """What is wrong, without the arguments themselves."""
    try:
        json.loads(arguments)
    except ValueError as error:
        return f"not valid JSON ({error})"
    return "JSON, but not an object"


def _failures(messages: list[AnyMessage]) -> int:
    """How many of the last replies, in a row, held nothing but such calls."""
    count = 0
    for message in reversed(messages):
        if isinstance(message, ToolMessage):
            continue
        if not isinstance(message, AIMessage) or message.tool_calls:
            break
        if not message.invalid_tool_calls:
            break
        count += 1
    return count


repair_invalid_tool_calls = RepairInvalidToolCalls()
"""`create_agent(…, middleware=[repair_invalid_tool_calls])`. It keeps nothing between runs."""
