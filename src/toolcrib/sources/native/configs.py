"""This module makes the values that a tool may read of its call: LangChain's `configurable`."""

from __future__ import annotations

from typing import Any

from toolcrib.tools.call import Call


def configurable_of(call: Call) -> dict[str, Any]:
    """User, group and chat of the call (None where there is none), over what else was given."""
    caller = call.caller
    chat = caller.chat
    return {
        **call.configurable,
        "logged_user_id": caller.user_id,
        "group_id": caller.group_id,
        "chat_id": chat.id if chat else None,
        "chat_uuid": chat.uuid if chat else None,
    }
