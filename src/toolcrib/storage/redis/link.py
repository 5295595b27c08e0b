"""This module is the connection to Redis: asked while it answers, left alone while it does not."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import structlog
from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

from toolcrib.errors import SetupError
from toolcrib.storage.redis.address import SETTING, RedisAddress

_log = structlog.get_logger(__name__)
_PATIENCE = 1.0
"""Seconds that a command may take: it is a change or a call that waits for it."""
_REST = 5.0
"""Seconds for which a Redis that failed is not asked again."""
_QUIET = 15.0
"""Seconds without a message after which a listener asks whether Redis is still there."""
_CONNECTIONS = 16
_FAILURES = (RedisError, OSError, TimeoutError)


class RedisLink:
    """One Redis. `clock` gives seconds that never go back."""

    def __init__(
        self, address: RedisAddress, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.place = address.place
        self._clock = clock
        self._away_until = 0.0
        pools: Any = BlockingConnectionPool
        pool = pools.from_url(
            address.url,
            max_connections=_CONNECTIONS,
            timeout=_PATIENCE,
            socket_timeout=_PATIENCE,
            socket_connect_timeout=_PATIENCE,
            health_check_interval=int(_QUIET),
            # Once more at once: a connection that the server closed while it was idle.
            retry=Retry(NoBackoff(), 1),
        )
        self._client: Any = Redis.from_pool(pool)

    async def ask(self, *command: str | bytes | int) -> Any:
        """The answer to a command.

        Raises SetupError when there is none, for some seconds afterwards at once.
        """
        if self._clock() < self._away_until:
            raise self._away("it failed a moment ago")
        try:
            answer = await self._client.execute_command(*command)
        except _FAILURES as error:
            raise self._lost(error) from None
        self._found()
        return answer

    @asynccontextmanager
    async def messages(self, channel: str) -> AsyncGenerator[AsyncIterator[bytes]]:
        """What others say in the channel from now on. Raises SetupError when Redis goes away.

        An empty message: the connection was made anew, and something may have been missed.
        """
        heard: Any = self._client.pubsub()
        try:
            try:
                await heard.subscribe(channel)
                began = await heard.get_message(timeout=_PATIENCE)
            except _FAILURES as error:
                raise self._lost(error) from None
            if began is None:
                raise self._lost(TimeoutError("no answer in time"))
            self._found()
            yield self._told(heard)
        finally:
            await heard.aclose()

    async def close(self) -> None:
        await self._client.aclose()

    async def _told(self, heard: Any) -> AsyncIterator[bytes]:
        while True:
            try:
                message = await heard.get_message(timeout=_QUIET)
            except _FAILURES as error:
                raise self._lost(error) from None
            if message is not None:
                yield message["data"] if message["type"] == "message" else b""

    def _lost(self, error: BaseException) -> SetupError:
        why = str(error).rstrip(".") or type(error).__name__
        if not self._away_until:
            _log.warning("redis.away", place=self.place, error=why)
        self._away_until = self._clock() + _REST
        return self._away(why)

    def _found(self) -> None:
        if self._away_until:
            self._away_until = 0.0
            _log.info("redis.back", place=self.place)

    def _away(self, why: str) -> SetupError:
        return SetupError(
            f"The Redis at {self.place} does not answer: {why}.",
            hint=f"See that it is running and that {SETTING} is right.",
        )
