"""Answers: JSON whatever a tool put into its result."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from toolcrib.surfaces.http.writing import dumps

WHEN = datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)


@pytest.mark.parametrize("odd", ["plain", "\ud800", 10**30])
def test_times_look_alike_whatever_stands_beside_them(odd: object) -> None:
    """One odd value does not change the form of the times in the same answer."""
    read = json.loads(dumps({"at": WHEN, "odd": odd}))
    assert read == {"at": "2026-01-02T03:04:05.678901Z", "odd": odd}
