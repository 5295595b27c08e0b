"""This module lends what a chat has of its own besides rows: a sandbox, and what else tools open.

All of it ends with the chat: whoever opens something for a chat says here how it is closed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import structlog

from toolcrib.errors import NotGranted, ToolcribError
from toolcrib.isolation.sandboxes import Key, Sandboxes
from toolcrib.plugin.home import Home
from toolcrib.tools.call import current_call

if TYPE_CHECKING:
    from toolcrib.isolation.running import Ran
    from toolcrib.net.gate import Gate
    from toolcrib.net.guard import Guard

_log = structlog.get_logger(__name__)
Ending = Callable[[Key], Awaitable[None]]
Closing = Callable[[], Awaitable[None]]


@dataclass(frozen=True, kw_only=True, slots=True)
class BrowserPlan:
    """What the operator says of browsers: `auto`, `off`, or the path of a Chromium."""

    program: str = "auto"
    idle: float = 600.0
    """Seconds after which a chat's unused page is closed."""


class Rooms:
    """One for an open installation. Methods act for the chat of the running call."""

    def __init__(
        self,
        sandboxes: Sandboxes,
        *,
        guard: Guard,
        proxy: str = "",
        browser: BrowserPlan,
        git_remote: str = "",
    ) -> None:
        self.sandboxes = sandboxes
        self._guard = guard
        self._proxy = proxy
        self._gate: Gate | None = None
        self._opening = asyncio.Lock()
        self.browser = browser
        self.git_remote = git_remote
        """Where the operator wants workspaces to be pushed to; it may hold `{chat}`."""
        self.home = Home()
        self._at_end: list[Ending] = [sandboxes.end]
        self._at_close: list[Closing] = [sandboxes.close]
        self._now_and_then: list[Closing] = []

    async def gate(self) -> Gate:
        """The guard as a proxy, for programs that connect by themselves; opened when first asked.

        Call it at home.
        """
        async with self._opening:
            if self._gate is None:
                from toolcrib.net.gate import open_gate  # noqa: PLC0415 - few installations need it

                self._gate = await open_gate(self._guard, proxy=self._proxy)
                self._at_close.insert(0, self._gate.close)
            return self._gate

    async def judge(self, url: str) -> None:
        """Raises EgressBlocked unless the guard lets a connection to this address out."""
        place, _ = self._guard.policy.check_url(url)
        await self.home.run(lambda: self._guard.addresses(place))

    def key(self) -> Key:
        """The chat of the running call. Raises NotGranted outside of a chat."""
        call = current_call.get()
        chat = None if call is None else call.caller.chat
        if chat is None:
            raise NotGranted(
                "This tool works in a chat, and the call comes from none.",
                hint="Call it in a chat, or with the chat_id of one.",
            )
        return Key(number=chat.id, uuid=chat.uuid)

    async def run(
        self,
        argv: Sequence[str],
        *,
        stdin: bytes = b"",
        joined: bool = True,
        seconds: float | None = None,
        keep: int = 128 * 1024,
    ) -> Ran:
        """Run a command in the chat's sandbox. Raises CallRefused, CallFailed, NotGranted."""
        key = self.key()
        return await self.home.run(
            lambda: self.sandboxes.run(
                key, argv, stdin=stdin, joined=joined, seconds=seconds, keep=keep
            )
        )

    def when_chat_ends(self, work: Ending) -> None:
        self._at_end.append(work)

    def when_closed(self, work: Closing) -> None:
        self._at_close.append(work)

    def now_and_then(self, work: Closing) -> None:
        """Do this about once a minute."""
        self._now_and_then.append(work)

    async def tidy(self) -> None:
        """Close what is not used. Failures are logged."""
        for work in tuple(self._now_and_then):
            try:
                await work()
            except (OSError, ToolcribError) as error:
                _log.warning("something idle does not close", error=str(error))

    async def end(self, chat_id: int, uuid: str) -> None:
        """The chat is gone: so is all that was opened for it. Failures are logged."""
        key = Key(number=chat_id, uuid=uuid)
        for work in tuple(self._at_end):
            try:
                await work(key)
            except (OSError, ToolcribError) as error:
                _log.warning("what a chat had open is not closed", chat=chat_id, error=str(error))

    async def close(self) -> None:
        """Stop what runs. Failures are logged."""
        while self._at_close:
            try:
                await self._at_close.pop()()
            except (OSError, ToolcribError) as error:
                _log.warning("something does not close", error=str(error))
