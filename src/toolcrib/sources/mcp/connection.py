"""This module holds one open conversation with one server.

A single task opens it, owns it and closes it; any number of others call through it. A call that
fails, is cancelled or takes too long ends alone. When the server is gone the conversation is over
and says so at once.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from typing import Any

import anyio
import mcp_types as types
from mcp.client import ClientSession, IncomingMessage
from mcp.client.subscriptions import ListenNotSupportedError, SubscriptionLost, listen
from mcp.shared.dispatcher import ProgressFnT
from mcp.shared.exceptions import MCPError
from mcp.shared.inbound import x_mcp_header_map
from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher

from toolcrib.errors import SourceTimeout, SourceUnreachable, ToolcribError
from toolcrib.net.streaming import StreamingClients
from toolcrib.sources.mcp.asking import Voices
from toolcrib.sources.mcp.conversation import Ask, HeaderMap, Progress
from toolcrib.sources.mcp.envelope import CLIENT, dress, is_modern
from toolcrib.sources.mcp.failures import refused, translated
from toolcrib.sources.mcp.limits import Limits
from toolcrib.sources.mcp.negotiation import negotiate
from toolcrib.sources.mcp.servers import Server
from toolcrib.sources.mcp.streams import streams_to

# Both write addresses and messages, which may hold secrets, into the log.
for _name in ("mcp", "httpx2", "httpcore2"):
    logging.getLogger(_name).setLevel(logging.CRITICAL)

Changed = Callable[[], None]
_MAY_ASK: Mapping[str, Any] = {"elicitation": {"form": {}, "url": {}}}
"""What a server of the newer era is told of a call whose maker can ask a person."""


class _Dispatcher(JSONRPCDispatcher[Any]):
    """The library's, and it tells when the other side is gone."""

    def __init__(self, read: Any, write: Any, over: asyncio.Event) -> None:
        super().__init__(read, write)
        self._over = over

    async def run(self, *args: Any, **named: Any) -> None:
        try:
            await super().run(*args, **named)
        finally:
            self._over.set()


class Connection:
    """Run it in a task of its own: `run` returns or raises when the conversation is over."""

    def __init__(
        self, server: Server, clients: StreamingClients, limits: Limits, changed: Changed
    ) -> None:
        self._server = server
        self._clients = clients
        self._limits = limits
        self._changed = changed
        self._dispatcher: _Dispatcher | None = None
        self._over = asyncio.Event()
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

    async def _serve(self) -> None:
        async with streams_to(self._server, self._clients) as (read, write):
            dispatcher = _Dispatcher(read, write, self._over)
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
                self._dispatcher = dispatcher
                if not self.ready.done():
                    self.ready.set_result(None)
                await self._stay(session)

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
        return await self._ask("tools/list", {"cursor": cursor} if cursor else {}, timeout)

    async def call(self, ask: Ask) -> Mapping[str, Any]:
        params: dict[str, Any] = {"name": ask.name, "arguments": dict(ask.arguments), **ask.more}
        if ask.log is not None and is_modern(self.version):
            params["_meta"] = {types.LOG_LEVEL_META_KEY: "debug"}
        marked = x_mcp_header_map(ask.input_schema) if is_modern(self.version) else None
        with self._voices.of(ask):
            return await self._ask(
                "tools/call",
                params,
                ask.timeout,
                ask.progress,
                marked,
                _MAY_ASK if ask.person is not None else None,
            )

    async def _ask(
        self,
        method: str,
        params: Mapping[str, Any],
        timeout: float,  # noqa: ASYNC109 - the server's own time
        progress: Progress | None = None,
        marked: HeaderMap | None = None,
        capabilities: Mapping[str, Any] | None = None,
    ) -> Mapping[str, Any]:
        if self._dispatcher is None or self.is_over:
            raise SourceUnreachable("The connection is over.", sent=False)
        dressed, options = dress(method, params, self.version, marked, capabilities=capabilities)
        options["timeout"] = timeout
        if progress is not None:
            options["on_progress"] = _watched(progress)
        self._in_flight += 1
        try:
            return await self._dispatcher.send_raw_request(method, dressed, options)
        except MCPError as error:
            failure = refused(error)
        finally:
            self._in_flight -= 1
            if self._retired and not self._in_flight:
                self.close()
        raise failure


def _closed() -> SourceUnreachable:
    return SourceUnreachable("The connection was closed.", sent=False)


def _watched(progress: Progress) -> ProgressFnT:
    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        await told(progress, total, message)

    told = progress
    return on_progress
