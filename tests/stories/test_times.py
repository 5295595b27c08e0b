"""Times in requests: what cannot be read is told how it is written."""

from __future__ import annotations

import pytest

from tests.support.crib import open_crib
from toolcrib.settings import Settings


@pytest.mark.parametrize("since", ["yesterday", "2030-13-01", "2030-01-31T25:00:00Z", "x"])
async def test_a_time_that_cannot_be_read(settings: Settings, since: str) -> None:
    """The field is named, with an example and without the parser's words."""
    async with open_crib(settings) as crib:
        root = await crib.somebody(1)
        answer = await root.api.get("/api/v1/calls", params={"since": since})
    told = answer.json()
    assert (answer.status_code, told["where"]) == (422, "since")
    assert told["detail"] == "since: Write a UTC time, as in 2030-01-31T12:00:00Z."
