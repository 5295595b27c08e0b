"""This module opens what an installation uses its Redis for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from toolcrib.coordination.cache import Cache
from toolcrib.storage.redis.address import RedisAddress
from toolcrib.storage.signals import Bell

if TYPE_CHECKING:
    from toolcrib.storage.redis.link import RedisLink


@dataclass(frozen=True, kw_only=True, slots=True)
class RedisParts:
    """The bell, the cache and the connection beneath both."""

    link: RedisLink
    bell: Bell
    cache: Cache

    async def close(self) -> None:
        await self.link.close()


def open_redis(url: str, *, name: str) -> RedisParts:
    """Nothing is connected before it is needed. `name` is the installation's in that Redis.

    Raises InvalidSettings for what is no address of a Redis, MissingExtra without the library.
    """
    address = RedisAddress.of(url)
    from toolcrib.storage.redis.bell import RedisBell  # noqa: PLC0415 - an extra
    from toolcrib.storage.redis.cache import RedisCache  # noqa: PLC0415
    from toolcrib.storage.redis.link import RedisLink  # noqa: PLC0415

    link = RedisLink(address)
    return RedisParts(link=link, bell=RedisBell(link, name=name), cache=RedisCache(link, name=name))
