"""This module reads the address of a Redis, and shows it without its password."""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Self
from urllib.parse import urlsplit

from toolcrib.errors import InvalidSettings, MissingExtra

SETTING = "TOOLCRIB_REDIS_URL"
_SCHEMES = ("redis", "rediss", "unix")


@dataclass(frozen=True, kw_only=True, slots=True)
class RedisAddress:
    """`url` holds the password; `place` is what messages and logs show."""

    url: str = field(repr=False)
    place: str

    @classmethod
    def of(cls, url: str) -> Self:
        """Raises InvalidSettings for what is no such address, MissingExtra without the library."""
        if find_spec("redis") is None:
            raise MissingExtra(
                "Redis needs a library that is not installed: redis.",
                hint="Run pip install 'toolcrib[redis]'.",
            )
        try:
            parts = urlsplit(url)
            port = parts.port or 6379
        except ValueError:
            raise _unusable() from None
        whole = parts.path if parts.scheme == "unix" else parts.hostname
        if parts.scheme not in _SCHEMES or not whole or not _is_database(parts.path, parts.scheme):
            raise _unusable()
        host = f"[{whole}]" if ":" in whole else whole
        return cls(url=url, place=whole if parts.scheme == "unix" else f"{host}:{port}")


def _is_database(path: str, scheme: str) -> bool:
    """`/3`; redis-py would take database 0 for anything else."""
    return scheme == "unix" or path in {"", "/"} or path[1:].isdecimal()


def _unusable() -> InvalidSettings:
    return InvalidSettings(
        "The address of Redis cannot be read.",
        where=SETTING,
        hint="Write redis://host:6379/0, rediss://:password@host:6379/0 or unix:///path/to/socket.",
    )
