"""This module makes calls and runs objects through the adapters, as resolution would."""

from __future__ import annotations

from typing import Any

from toolcrib.identity.caller import Caller, ChatRef
from toolcrib.sources.native.adapting import Adapters
from toolcrib.sources.native.tool import NativeTool
from toolcrib.tools.call import Call
from toolcrib.tools.result import Output
from toolcrib.tools.source import Skip

OURS = {"logged_user_id": 7, "group_id": 5, "chat_id": 3, "chat_uuid": "chat-uuid"}
"""What the caller of `a_call` puts into `configurable`."""


def a_call(arguments: dict[str, Any] | None = None, **configurable: Any) -> Call:
    caller = Caller(user_id=7, group_id=5, chat=ChatRef(id=3, uuid="chat-uuid"))
    return Call(
        call_id="call-1",
        arguments=arguments or {},
        caller=caller,
        deadline=60,
        configurable=configurable,
    )


def adapted(obj: Any, adapters: Adapters | None = None) -> NativeTool:
    made = (adapters or Adapters()).adapt(obj, "code")
    assert isinstance(made, NativeTool), made
    return made


def refused(obj: Any) -> Skip:
    made = Adapters().adapt(obj, "code")
    assert isinstance(made, Skip), made
    return made


async def run(obj: Any, arguments: dict[str, Any] | None = None, **configurable: Any) -> Output:
    return await adapted(obj).run(a_call(arguments, **configurable))
