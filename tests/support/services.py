"""This module finds the PostgreSQL and the Redis that tests talk to.

A developer without them still gets a green run: what needs them is skipped and says so. With
`CI` set, a missing service fails the test, so that nothing is left out there unnoticed.
"""

from __future__ import annotations

import functools
import os
from typing import NoReturn

import psycopg
import pytest
import redis


def postgres_url() -> str:
    """A database address, `postgresql://…`, that answers. Make a schema or database of your own."""
    url = os.environ.get("TEST_POSTGRES_URL", "postgresql://root@127.0.0.1:5432/test")
    return _require("PostgreSQL", "TEST_POSTGRES_URL", url, _postgres_trouble(url))


def redis_url() -> str:
    """A Redis address, `redis://…`, that answers. Use a key prefix or channel names of your own."""
    url = os.environ.get("TEST_REDIS_URL", "redis://127.0.0.1:6379/0")
    return _require("Redis", "TEST_REDIS_URL", url, _redis_trouble(url))


def in_ci() -> bool:
    return os.environ.get("CI", "").lower() not in {"", "0", "false"}


def missing(what: str) -> NoReturn:
    """End the test because what it needs is not there: failed in CI, skipped elsewhere."""
    if in_ci():
        pytest.fail(what, pytrace=False)
    pytest.skip(what)


def _require(service: str, variable: str, url: str, trouble: str) -> str:
    if trouble:
        missing(f"{service} does not answer at {url} ({trouble}); {variable} names another one")
    return url


@functools.cache
def _postgres_trouble(url: str) -> str:
    try:
        psycopg.connect(url, connect_timeout=3).close()
    except psycopg.OperationalError as error:
        return str(error).strip().splitlines()[0]
    return ""


@functools.cache
def _redis_trouble(url: str) -> str:
    client = redis.Redis.from_url(url, socket_connect_timeout=3)
    try:
        client.ping()
    except redis.RedisError as error:
        return str(error)
    finally:
        client.close()
    return ""
