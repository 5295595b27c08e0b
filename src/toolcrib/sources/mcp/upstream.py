"""This module keeps one server at hand for one owner: its connection, its tools, its state.

Many callers share it. They wait together for one connection; a list is read once for all of them;
a server that fails rests, longer each time, and is tried again by itself.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, Final, Literal

from toolcrib.errors import SourceError, SourceTimeout, SourceUnreachable, ToolcribError
from toolcrib.secrets.masking import Masker
from toolcrib.sources.mcp.conversation import Conversation, SessionLost
from toolcrib.sources.mcp.limits import Limits
from toolcrib.sources.mcp.listing import Tools, read_tools
from toolcrib.sources.mcp.servers import Server, hidden_in, private_now
from toolcrib.tools.result import ErrorCode

_LONGEST: Final = 1000
"""Characters of a reason: it may quote the server, which may say anything."""
Status = Literal["connecting", "connected", "failed"]
Spawn = Callable[[Coroutine[Any, Any, None]], "asyncio.Task[None]"]
"""Runs work in the background; whoever gave it awaits the work in the end."""
Opener = Callable[[Server, Callable[[], None]], Conversation]
"""Begins a conversation; the second argument is to be called when the list of tools changed."""


@dataclass(frozen=True, kw_only=True, slots=True)
class State:
    """What is known of a server now. `error` is `(code, sentence)`, masked; `brief` says it in
    words of ours alone."""

    status: Status
    tools: Tools = field(default_factory=Tools)
    error: tuple[str, str] | None = None
    brief: str = ""
    checked_at: float | None = None
    """Seconds of the clock at which its list was last read, or its failure seen."""


class Upstream:
    """`changed` is called when what was shown to somebody is not so any more."""

    def __init__(
        self,
        server: Server,
        *,
        open_: Opener,
        spawn: Spawn,
        limits: Limits,
        changed: Callable[[], None],
        clock: Callable[[], float],
    ) -> None:
        self.server = server
        self.used_at = monotonic()
        self.in_use = 0
        self._open = open_
        self._spawn = spawn
        self._limits = limits
        self._changed = changed
        self._clock = clock
        self._masker = Masker(server.private)
        self._masked = server.private
        self._talk: Conversation | None = None
        self._owners: set[asyncio.Task[None]] = set()
        self._connecting: asyncio.Task[None] | None = None
        self._reading: asyncio.Task[None] | None = None
        self._state = State(status="connecting")
        self._known = False
        self._shown: tuple[object, ...] | None = None
        self._failures = 0
        self._rests_until = 0.0
        self._read_at = 0.0
        self._stale = False
        self._closed = False

    @property
    def state(self) -> State:
        return self._state

    @property
    def is_connected(self) -> bool:
        return self._talk is not None and not self._talk.is_over

    async def look(self, patience: float | None = None) -> State:
        """The state now, after waiting a little for a server that is not known yet.

        What this returned is remembered: `changed` is called once it is no longer so.
        """
        self.used_at = monotonic()
        if not self._believed():
            reading = self._read_in_background()
            if not self._known:
                await _wait(reading, self._limits.patience if patience is None else patience)
        self._shown = _visible(self._state)
        return self._state

    async def refresh(self) -> State:
        """Read the list now, whatever is known, and wait for it."""
        self._rests_until = 0.0
        self._stale = True
        self.used_at = monotonic()
        await _wait(self._read_in_background(), self._limits.opening + self._limits.listing)
        self._shown = _visible(self._state)
        return self._state

    async def conversation(self) -> Conversation:
        """An open one, begun if need be, once for all who wait. Raises SourceError."""
        self.used_at = monotonic()
        return await self._begun()

    async def _begun(self) -> Conversation:
        talk = self._talk
        if talk is not None and not talk.is_over:
            if not talk.ready.done():
                await self._opened(talk)
            return talk
        if self._closed:
            raise SourceUnreachable("The server's connection was closed.", sent=False)
        rest = self._rests_until - monotonic()
        if rest > 0 and self._state.error is not None:
            raise SourceUnreachable(
                f"{self._state.error[1]} It is tried again in {rest:.0f} s.", sent=False
            )
        talk = self._open(self.server, self._hear_of_change)
        self._talk = talk
        if self._reading is None or self._reading.done():
            self._stale = self._known  # who answers now may be another than who listed the tools
        owner = self._spawn(talk.run())
        self._owners.add(owner)
        owner.add_done_callback(self._owners.discard)
        await self._opened(talk)
        return talk

    def retire(self, talk: Conversation) -> None:
        """Begin another conversation with the next call; this one ends with its last."""
        if self._talk is talk:
            self._talk = None
        talk.retire()

    async def _opened(self, talk: Conversation) -> None:
        """Wait for the handshake; whoever is cancelled here leaves it to the others."""
        try:
            await asyncio.shield(talk.ready)
        except ToolcribError as error:
            if self._talk is talk:
                self._talk = None
                self._fail(error)
            raise self.masked(error) from None

    def wake(self) -> None:
        """Try again what failed, once it has rested; drop what nobody used. Called regularly."""
        now = monotonic()
        idle = now - self.used_at
        if self._state.status == "failed" and self._rests_until <= now:
            if idle < self._limits.forgotten:
                self._read_in_background()
        elif (self.is_connected and self._stale) or self._is_doubted(idle):
            self._read_in_background()
        elif self._talk is not None and not self.in_use and idle > self._limits.idle:
            self._talk.close()
            self._talk = None
        elif self._known and self._talk is not None and self._talk.is_over:
            self._talk = None
            self._stale = True

    async def close(self) -> None:
        """End the conversation and whatever runs for it."""
        self._closed = True
        if self._talk is not None:
            self._talk.close()
        if self._reading is not None:
            self._reading.cancel()
        owners = set(self._owners)
        if not owners:
            return
        _, left = await asyncio.wait(owners, timeout=self._limits.closing)
        for owner in left:
            owner.cancel()
        if left:
            await asyncio.wait(left, timeout=self._limits.closing)

    def masked(self, error: ToolcribError) -> ToolcribError:
        """The same error without the server's private values."""
        error.message = self.text(error.message)
        error.hint = error.hint and self.text(error.hint)
        return error

    def text(self, text: str) -> str:
        """A text of the server's without its private values, which change when it is logged in."""
        private = private_now(self.server)
        if private != self._masked:
            self._masked, self._masker = private, Masker(private)
        return hidden_in(self.server).text(self._masker.text(text))

    def stale(self) -> None:
        """The server's answer showed that its list is not as we know it."""
        self._hear_of_change()

    def _is_doubted(self, idle: float) -> bool:
        """Whether a list that somebody uses has to be looked at again."""
        return self._known and idle < self._limits.idle and not self._believed()

    def _believed(self) -> bool:
        """Whether what is known needs no second look."""
        if self._state.status == "failed":
            return monotonic() < self._rests_until
        if not self._known or self._stale:
            return False
        hears = self._talk is not None and self.is_connected and self._talk.tells
        return hears or monotonic() - self._read_at < self._limits.fresh

    def _read_in_background(self) -> asyncio.Task[None]:
        if self._reading is None or self._reading.done():
            self._reading = self._spawn(self._read())
        return self._reading

    async def _read(self) -> None:
        wait = self._limits.listed_again - (monotonic() - self._read_at)
        if self._known and self._state.status != "failed" and wait > 0:
            await asyncio.sleep(wait)  # a list that changes all the time is not read all the time
        self._stale = False
        try:
            tools = await self._tools()
        except ToolcribError as error:
            self._fail(error)
        else:
            self._failures = 0
            self._rests_until = 0.0
            self._become(State(status="connected", tools=tools, checked_at=self._clock()))

    async def _tools(self) -> Tools:
        talk = await self._begun()  # looking at the list is no use of the server
        try:
            return await self._tools_from(talk)
        except SessionLost:
            self.retire(talk)
        return await self._tools_from(await self._begun())

    async def _tools_from(self, talk: Conversation) -> Tools:
        """The whole list has so many seconds; pages that came until then count."""
        seconds = self._limits.listing
        ends = monotonic() + seconds

        async def page(cursor: str | None) -> Mapping[str, Any]:
            try:
                async with asyncio.timeout(ends - monotonic()):
                    return await talk.page(cursor, seconds)
            except (TimeoutError, SourceTimeout):
                late = f"The server did not list its tools within {seconds:g} s."
                raise SourceTimeout(late, sent=True) from None

        return await read_tools(page)

    def _fail(self, error: ToolcribError) -> None:
        self._failures += 1
        rest = min(self._limits.retry * 2 ** (self._failures - 1), self._limits.retry_most)
        self._rests_until = monotonic() + rest
        code: ErrorCode | str = error.code if isinstance(error, SourceError) else "internal"
        self._become(
            State(
                status="failed",
                tools=self._state.tools,
                error=(code, _short(self.text(str(error)))),
                brief=error.brief or "the server cannot be used",
                checked_at=self._clock(),
            )
        )

    def _become(self, state: State) -> None:
        self._state = state
        self._known = True
        self._read_at = monotonic()
        if self._shown is not None and self._shown != _visible(state):
            self._shown = None
            self._changed()

    def _hear_of_change(self) -> None:
        self._stale = True
        if self._known and not self._closed:
            self._read_in_background()


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _visible(state: State) -> tuple[object, ...]:
    """What somebody who looked at the state has seen of it."""
    if state.status == "connected":
        return ("connected", state.tools.fingerprint)
    return (state.status, state.error)


async def _wait(task: asyncio.Task[None], seconds: float) -> None:
    await asyncio.wait({task}, timeout=seconds)
