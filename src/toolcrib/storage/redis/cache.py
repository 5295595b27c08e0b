"""This module keeps a cache that all processes of an installation share."""

from __future__ import annotations

import re

from toolcrib.coordination.cache import LocalCache
from toolcrib.errors import SetupError
from toolcrib.storage.redis.link import RedisLink

_SPECIAL = re.compile(r"([\\*?\[\]^-])")
_AT_ONCE = 500
"""How many keys one look through Redis, and one delete, is about."""


class RedisCache:
    """Cache in Redis. While it is away, one of this process alone stands in and nothing raises."""

    def __init__(self, link: RedisLink, *, name: str) -> None:
        self._link = link
        self._prefix = f"toolcrib:{name}:cache:"
        self._own = LocalCache()

    async def get(self, key: str) -> bytes | None:
        try:
            return await self._link.ask("GET", self._prefix + key)
        except SetupError:
            return await self._own.get(key)

    async def put(self, key: str, value: bytes, *, seconds: float) -> None:
        try:
            lasting = max(1, round(seconds * 1000))
            await self._link.ask("SET", self._prefix + key, value, "PX", lasting)
        except SetupError:
            await self._own.put(key, value, seconds=seconds)

    async def drop(self, prefix: str) -> int:
        own = await self._own.drop(prefix)
        try:
            return await self._dropped(prefix)
        except SetupError:
            return own

    async def _dropped(self, prefix: str) -> int:
        pattern = _SPECIAL.sub(r"\\\1", self._prefix + prefix) + "*"
        count, cursor = 0, b"0"
        while True:
            cursor, keys = await self._link.ask("SCAN", cursor, "MATCH", pattern, "COUNT", _AT_ONCE)
            if keys:
                count += await self._link.ask("UNLINK", *keys)
            if int(cursor) == 0:
                return count
