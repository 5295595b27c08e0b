"""This module says for whom a service works: the call that runs here, its chat, its agent."""

from __future__ import annotations

from toolcrib.errors import NotGranted
from toolcrib.identity.caller import ChatRef
from toolcrib.tools.call import Call, current_call


def running() -> Call:
    """Raises NotGranted outside a call."""
    call = current_call.get()
    if call is None:
        raise NotGranted("This works only while a tool is called.")
    return call


def chat_of(call: Call) -> ChatRef:
    """Raises NotGranted outside a chat."""
    if call.caller.chat is None:
        raise NotGranted("This works only in a chat.", hint="Call the tool with chat_id.")
    return call.caller.chat


def agent_of(call: Call) -> int:
    """Raises NotGranted for a call that came through no agent."""
    if call.agent_id is None:
        raise NotGranted("This works only for the tool of an agent.")
    return call.agent_id
