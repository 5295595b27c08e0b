"""How long whoever lists tools waits for a server that is not known yet."""

from __future__ import annotations

import pytest

from toolcrib import open_platform
from toolcrib.plugin.registration import Registry
from toolcrib.settings import Settings
from toolcrib.sources.mcp.limits import Limits


@pytest.mark.parametrize(
    ("given", "background", "waits"),
    [
        (None, True, Limits().patience),
        (7.5, True, 7.5),
        (None, False, Limits().opening),
        (7.5, False, 7.5),
    ],
)
async def test_who_opens_says_how_long(
    settings: Settings, given: float | None, *, background: bool, waits: float
) -> None:
    opening = open_platform(settings, registry=Registry(), background=background, patience=given)
    async with opening as platform:
        assert platform.servers.limits.patience == waits
