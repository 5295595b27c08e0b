"""This module keeps a browsing session for each chat: cookies, storage and pages of its own.

A session ends with its chat, with the platform, or when nobody used it for a while.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from time import monotonic
from typing import TYPE_CHECKING, Final

from toolcrib.builtin.browser.chromium import Chromium
from toolcrib.errors import CallFailed, CallRefused
from toolcrib.isolation.sandboxes import Key
from toolcrib.net.gate import Gate, Pass
from toolcrib.plugin.rooms import Rooms

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext, Page

AT_ONCE: Final = 8
"""Chats that browse at the same time; the one that was idle longest makes room for another."""
_PAGES: Final = 5
_PATIENCE: Final = 20_000.0
"""Milliseconds that one step on a page may take."""
ANSWERING: Final = 20.0
"""Seconds for a page to answer anything at all: it may be busy for ever."""


class Session:
    """The pages of one chat. `lock` is held while something is done with them."""

    def __init__(self, context: BrowserContext, admitted: Pass) -> None:
        self._context = context
        self.admitted = admitted
        self.lock = asyncio.Lock()
        self.used = monotonic()
        self._flooded = False
        context.on("page", self._appeared)

    async def page(self) -> Page:
        """The page that was opened last. Raises CallFailed for one that answers nothing."""
        pages = self._context.pages
        if not pages:
            return await self._context.new_page()
        if await _answers(pages[-1], ANSWERING):
            return pages[-1]
        await self.give_up(pages[-1])
        raise CallFailed(
            "The page did not answer any more, and is closed.", hint="Open an address."
        )

    async def page_to_leave(self) -> Page:
        """The same, or a fresh one in place of one that answers nothing, or of far too many."""
        while self._flooded and self._context.pages:
            await self.give_up(self._context.pages[0])
        self._flooded = False
        pages = self._context.pages
        if pages and await _answers(pages[-1], ANSWERING / 4):
            return pages[-1]
        fresh = await self._context.new_page()
        if pages:
            await self.give_up(pages[-1])
        return fresh

    async def give_up(self, page: Page) -> None:
        """Close a page that may not even answer to that."""
        from playwright.async_api import Error  # noqa: PLC0415 - an extra

        with suppress(Error, TimeoutError):
            async with asyncio.timeout(ANSWERING):
                await page.close()

    async def _appeared(self, page: Page) -> None:
        """A site may open pages without end."""
        if len(self._context.pages) > _PAGES:
            self._flooded = True
            await self.give_up(page)

    async def close(self) -> None:
        await self._context.close()


async def _answers(page: Page, seconds: float) -> bool:
    from playwright.async_api import Error  # noqa: PLC0415 - an extra

    try:
        async with asyncio.timeout(seconds):
            await page.evaluate("0")
    except (Error, TimeoutError):
        return False
    return True


class Sessions:
    """All sessions of this process; the browser is started for the first one."""

    def __init__(self, rooms: Rooms, program: str) -> None:
        self._rooms = rooms
        self._program = program
        self._chromium: Chromium | None = None
        self._sessions: dict[Key, Session] = {}
        self._opening = asyncio.Lock()
        rooms.when_chat_ends(self.end)
        rooms.when_closed(self.close)
        rooms.now_and_then(self.tidy)

    def belong_to(self, rooms: Rooms) -> bool:
        """Whether they are of this installation, and not of one that was open before."""
        return self._rooms is rooms

    @asynccontextmanager
    async def using(self, key: Key) -> AsyncGenerator[Session]:
        """The chat's session, for nobody else meanwhile. Raises CallFailed, CallRefused."""
        async with self._opening:
            session = await self._session(key)
            session.used = monotonic()  # so that no other chat's makes room with it
        async with session.lock:
            session.used = monotonic()
            session.admitted.refused.clear()
            try:
                yield session
            finally:
                session.used = monotonic()

    async def end(self, key: Key) -> None:
        session = self._sessions.pop(key, None)
        if session is not None:
            await self._drop(session)

    async def tidy(self) -> None:
        """End what nobody uses."""
        oldest = monotonic() - self._rooms.browser.idle
        for key, session in tuple(self._sessions.items()):
            if session.used < oldest and not session.lock.locked():
                await self.end(key)

    async def close(self) -> None:
        for key in tuple(self._sessions):
            await self.end(key)
        if self._chromium is not None:
            await self._chromium.close()
            self._chromium = None

    async def _session(self, key: Key) -> Session:
        gate = await self._rooms.gate()
        if self._chromium is not None and not self._chromium.is_open:
            await self.close()  # it crashed
        if self._chromium is None:
            cgroups = await asyncio.to_thread(lambda: self._rooms.sandboxes.isolation.cgroups)
            self._chromium = await Chromium.start(self._program, gate, cgroups)
        known = self._sessions.get(key)
        if known is None:
            await self._make_room()
            known = self._sessions[key] = await self._open(self._chromium, gate)
        return known

    async def _open(self, chromium: Chromium, gate: Gate) -> Session:
        admitted = gate.admit()
        try:
            context = await chromium.browser.new_context(
                proxy={
                    "server": gate.address,
                    "username": admitted.user,
                    "password": admitted.password,
                },
                accept_downloads=False,
                viewport={"width": 1280, "height": 800},
            )
        except BaseException:
            gate.dismiss(admitted)
            raise
        context.set_default_timeout(_PATIENCE)
        return Session(context, admitted)

    async def _make_room(self) -> None:
        if len(self._sessions) < AT_ONCE:
            return
        idle = [key for key, one in self._sessions.items() if not one.lock.locked()]
        if not idle:
            raise CallRefused(f"{AT_ONCE} chats browse at this moment.", hint="Try again later.")
        await self.end(min(idle, key=lambda key: self._sessions[key].used))

    async def _drop(self, session: Session) -> None:
        from playwright.async_api import Error  # noqa: PLC0415 - an extra

        (await self._rooms.gate()).dismiss(session.admitted)
        with suppress(Error):  # it is gone already
            await session.close()
