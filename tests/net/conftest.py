"""This module starts what the tests of the client need: an upstream, and a client allowed to it."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from toolcrib.net.client import GuardedClient
from toolcrib.net.guard import EgressPolicy
from toolcrib.testing.upstream import RecordingUpstream


@pytest.fixture
async def upstream() -> AsyncIterator[RecordingUpstream]:
    """A real server on loopback."""
    async with RecordingUpstream() as server:
        yield server


@pytest.fixture
async def client(upstream: RecordingUpstream) -> AsyncIterator[GuardedClient]:
    """A client whose operator allows that server and nothing else that is private."""
    async with GuardedClient(EgressPolicy([upstream.place])) as guarded:
        yield guarded
