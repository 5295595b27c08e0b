"""This module is the protocol library's dispatcher, with a side door for calls that go around it.

Such a call has a number from the same count, gives the dispatcher whatever it hears that is not its
own, and lets it tell the server when the call is given up.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextvars import copy_context
from typing import Any, Final

import anyio
import mcp_types as types
from mcp.shared.dispatcher import OnNotify, OnRequest
from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher
from mcp.shared.message import SessionMessage

_ABANDON: Final = 5.0
"""Seconds that telling of a call that is given up may take."""


class Dispatcher(JSONRPCDispatcher[Any]):
    """The library's, and it tells when the other side is gone."""

    def __init__(self, read: Any, write: Any, over: asyncio.Event) -> None:
        super().__init__(read, write)
        self._over = over
        self._handlers: tuple[OnRequest, OnNotify] | None = None

    async def run(
        self, on_request: OnRequest, on_notify: OnNotify, *args: Any, **named: Any
    ) -> None:
        self._handlers = (on_request, on_notify)
        try:
            await super().run(on_request, on_notify, *args, **named)
        finally:
            self._over.set()

    def next_number(self) -> int:
        """The id of a request, which no other of this conversation has."""
        return self._allocate_id()

    async def hand(self, message: types.JSONRPCMessage) -> None:
        """Do with a message what is done with those that the library reads, in the context of
        whoever read it. Returns when whatever it caused has begun."""
        if self._handlers is None or self._over.is_set() or self._tg is None:
            return
        await self._dispatch(SessionMessage(message), *self._handlers, copy_context())
        await asyncio.sleep(0)

    async def give_up(self, number: int, reason: str) -> None:
        """Tell the server that nobody waits for a request any more; also when cancelled."""
        told: Mapping[str, Any] = {"requestId": number, "reason": reason}
        with anyio.move_on_after(_ABANDON, shield=True):
            await self.notify("notifications/cancelled", told)
