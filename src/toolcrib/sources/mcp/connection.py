"""This module holds one open conversation with one server.

A single task opens it, owns it and closes it; any number of others call through it. A call that
fails, is cancelled or takes too long ends alone. When the server is gone the conversation is over
and says so at once.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any

import anyio
import mcp_types as types
from mcp.client import ClientSession, IncomingMessage
from mcp.client.subscriptions import ListenNotSupportedError, SubscriptionLost, listen
from mcp.shared.dispatcher import CallOptions
from mcp.shared.exceptions import MCPError

from toolcrib.errors import SourceTimeout, SourceUnreachable, ToolcribError
from toolcrib.net.streaming import StreamingClients
from toolcrib.sources.mcp.answers import ForTheLibrary
from toolcrib.sources.mcp.asking import Voices
from toolcrib.sources.mcp.conversation import Ask
from toolcrib.sources.mcp.dispatching import Dispatcher
from toolcrib.sources.mcp.door import Door
from toolcrib.sources.mcp.envelope import CLIENT, Marks, dress, is_modern
from toolcrib.sources.mcp.failures import refused, translated
from toolcrib.sources.mcp.lean import LeanCalls
from toolcrib.sources.mcp.limits import Limits
from toolcrib.sources.mcp.negotiation import negotiate
from toolcrib.sources.mcp.pacing import Pace
from toolcrib.sources.mcp.servers import HttpServer, Server
from toolcrib.sources.mcp.streams import streams_to

# They write addresses and messages, which may hold secrets, into the log; `client` is of mcp.
for _name in ("mcp", "client", "httpx2", "httpcore2"):
    logging.getLogger(_name).setLevel(logging.CRITICAL)

Changed = Callable[[], None]
_TO_SEND = 1.0
"""Seconds beyond its own that a request may wait for a server that reads nothing."""
_MAY_ASK: Mapping[str, Any] = {"elicitation": {"form": {}, "url": {}}}
"""What a server of the newer era is told of a call whose maker can ask a person."""


class Connection:
    """Run it in a task of its own: `run` returns or raises when the conversation is over."""

    def __init__(
        self,
        server: Server,
        clients: StreamingClients,
        limits: Limits,
        changed: Changed,
        *,
        lean: bool = True,
    ) -> None:
        """Without `lean` the protocol library makes every call."""
        self._server = server
        self._clients = clients
        self._limits = limits
        self._changed = changed
        self._may_be_lean = lean
        self._dispatcher: Dispatcher | None = None
        self._door: Door | None = None
        self._lean: LeanCalls | None = None
        self._marks = Marks()
        self._over = asyncio.Event()
        self._gone = asyncio.Event()
        self._opening: asyncio.Task[Any] | None = None
        self._broken_off: ToolcribError | None = None
        self._in_flight = 0
        self._voices = Voices()
        self._retired = False
        self.version = ""
        self.tells = False
        """Whether the server said that it tells of changes of its list."""
        self.ended_with: ToolcribError | None = None
        """Why the conversation is over; None while it is not."""
        self.ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        """Done when calls can be made; fails with a SourceError when they never can."""

    @property
    def is_over(self) -> bool:
        return self._over.is_set()

    def close(self) -> None:
        """Ask for the end; `run` returns a few seconds later at most."""
        self._over.set()
        self._break_off(_closed())

    def retire(self) -> None:
        """Close when the last call in flight has its answer."""
        self._retired = True
        if not self._in_flight:
            self.close()

    async def run(self) -> None:
        """Open, serve until closed or gone, close. Never raises: `ready` says what went wrong."""
        if self.is_over:
            self._end_with(_closed())
            return
        task = self._opening = asyncio.current_task()
        late = SourceTimeout(
            f"The server did not open a connection within {self._limits.opening:g} s.", sent=True
        )
        loop = asyncio.get_running_loop()
        timer = loop.call_later(self._limits.opening, self._break_off, late)
        try:
            await self._serve()
        except asyncio.CancelledError:
            if self._broken_off is None or task is None or task.uncancel():
                raise
            self._end_with(self._broken_off)
        except BaseException as error:  # noqa: BLE001 - the library raises groups of anything
            self._end_with(translated(error))
        finally:
            timer.cancel()
            self._end_with(_closed())
            self._gone.set()

    async def _serve(self) -> None:
        async with streams_to(self._server, self._clients) as (read, write, door):
            dispatcher = Dispatcher(read, write, self._over)
            session = ClientSession(
                dispatcher=dispatcher,
                client_info=CLIENT,
                message_handler=self._hear,
                elicitation_callback=self._voices.elicit,
                logging_callback=self._voices.log,
                read_timeout_seconds=self._limits.opening,
            )
            async with session:
                self.version = await negotiate(session)
                self._dispatcher, self._door = dispatcher, door
                if door is not None and self._may_be_lean:
                    self._lean = LeanCalls(door, dispatcher, modern=is_modern(self.version))
                if not self.ready.done():
                    self.ready.set_result(None)
                try:
                    await self._stay(session)
                finally:
                    if self._lean is not None:
                        self._lean.end()

    def _break_off(self, reason: ToolcribError) -> None:
        """Stop opening: nobody knows whether the server would ever answer."""
        if self._opening is not None and self._broken_off is None and not self.ready.done():
            self._broken_off = reason
            self._opening.cancel()

    def _end_with(self, error: ToolcribError) -> None:
        """The first reason stays."""
        self._over.set()
        if self.ended_with is None:
            self.ended_with = error
        if not self.ready.done():
            self.ready.set_exception(self.ended_with)
            self.ready.exception()  # nobody may be waiting

    async def _stay(self, session: ClientSession) -> None:
        capabilities = session.server_capabilities
        tools = capabilities.tools if capabilities else None
        self.tells = bool(tools and tools.list_changed)
        async with anyio.create_task_group() as group:
            if is_modern(self.version) and self.tells:
                group.start_soon(self._listen, session)
            await self._over.wait()
            group.cancel_scope.cancel()

    async def _listen(self, session: ClientSession) -> None:
        """Hear of changed lists where the protocol wants to be asked for such news."""
        while True:
            try:
                async with listen(session, tools_list_changed=True) as news:
                    async for _ in news:
                        self._changed()
            except ListenNotSupportedError:
                return
            except (MCPError, SubscriptionLost, TimeoutError):
                pass
            await anyio.sleep(self._limits.listen_again)
            self._changed()

    async def _hear(self, message: IncomingMessage) -> None:
        if isinstance(message, types.ToolListChangedNotification):
            self._changed()

    async def page(self, cursor: str | None, timeout: float) -> Mapping[str, Any]:  # noqa: ASYNC109
        dressed, options = dress("tools/list", {"cursor": cursor} if cursor else {}, self.version)
        try:
            return await self._counted(self._by_library("tools/list", dressed, options, timeout))
        except SourceUnreachable:
            if isinstance(self._server, HttpServer):
                raise
        raise await self._how_it_ended()

    async def _how_it_ended(self) -> ToolcribError:
        """What a command said last is known once it is gone."""
        with suppress(TimeoutError):
            async with asyncio.timeout(self._limits.closing):
                await self._gone.wait()
        return self.ended_with or _closed()

    async def call(self, ask: Ask) -> Mapping[str, Any]:
        modern = is_modern(self.version)
        params: dict[str, Any] = {"name": ask.name, "arguments": dict(ask.arguments), **ask.more}
        if ask.log is not None and modern:
            params["_meta"] = {types.LOG_LEVEL_META_KEY: "debug"}
        dressed, options = dress(
            "tools/call",
            params,
            self.version,
            self._marks.of(ask.input_schema) if modern else None,
            capabilities=_MAY_ASK if ask.person is not None else None,
        )
        with self._voices.of(ask):
            if ask.progress is None:
                return await self._counted(self._called(ask, dressed, options, None))
            async with Pace(ask.progress) as pace:
                return await self._counted(self._called(ask, dressed, options, pace))

    async def _called(
        self, ask: Ask, params: dict[str, Any], options: CallOptions, pace: Pace | None
    ) -> Mapping[str, Any]:
        lean = self._lean
        if lean is not None and not self.is_over and lean.takes(ask):
            try:
                return await lean.call(ask, params, options.get("headers") or {}, pace)
            except ForTheLibrary as reason:
                if reason.lasting:
                    self._lean = None
        if pace is not None:
            options["on_progress"] = pace.on_progress
        return await self._by_library("tools/call", params, options, ask.timeout)

    async def _by_library(
        self,
        method: str,
        params: Mapping[str, Any],
        options: CallOptions,
        timeout: float,  # noqa: ASYNC109 - the server's own time
    ) -> Mapping[str, Any]:
        if self._dispatcher is None or self.is_over:
            raise SourceUnreachable("The connection is over.", sent=False)
        options["timeout"] = timeout
        try:
            async with asyncio.timeout(timeout + _TO_SEND):
                return await self._dispatcher.send_raw_request(method, params, options)
        except MCPError as error:
            failure = refused(error, has_status=self._door is not None or is_modern(self.version))
        except TimeoutError:  # the library counts from when it is sent
            failure = SourceTimeout("The server does not read what it is sent.", sent=None)
        raise failure

    async def _counted(self, asked: Awaitable[Mapping[str, Any]]) -> Mapping[str, Any]:
        self._in_flight += 1
        try:
            return await asked
        finally:
            self._in_flight -= 1
            if self._retired and not self._in_flight:
                self.close()


def _closed() -> SourceUnreachable:
    return SourceUnreachable("The connection was closed.", sent=False)
