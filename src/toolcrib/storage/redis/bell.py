"""This module rings for the other processes when something changed, and hears when they ring.

A ring says only that something changed: what it was, the database says. So nobody who can reach
the Redis can make a process believe anything, and a lost ring costs at most a second.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable
from contextlib import suppress

import structlog

from toolcrib.errors import SetupError
from toolcrib.storage.redis.link import RedisLink

_log = structlog.get_logger(__name__)
_PAUSE = 1.0
"""Seconds between two tries to listen."""


class RedisBell:
    """Bell over a Redis channel. `name` is the installation's: others have another channel."""

    def __init__(self, link: RedisLink, *, name: str) -> None:
        self._link = link
        self._channel = f"toolcrib:{name}:changed"
        self._me = secrets.token_hex(8)

    async def ring(self) -> None:
        with suppress(SetupError):  # logged; the others look by themselves
            await self._link.ask("PUBLISH", self._channel, self._me)

    async def listen(self, heard: Callable[[], Awaitable[None]]) -> None:
        while True:
            try:
                await self._hear(heard)
            except SetupError:
                pass  # logged where it was met
            except Exception:  # noqa: BLE001 - whatever it is, listening must go on
                _log.exception("bell.failed")
            await asyncio.sleep(_PAUSE)

    async def _hear(self, heard: Callable[[], Awaitable[None]]) -> None:
        async with self._link.messages(self._channel) as messages:
            await heard()  # what was rung before
            async for ringer in messages:
                if ringer != self._me.encode():
                    await heard()
