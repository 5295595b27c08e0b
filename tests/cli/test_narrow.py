"""Narrow terminals: an id is never cut into pieces, for nobody could copy it."""

from __future__ import annotations

from io import StringIO

import pytest
from rich.console import Console

from toolcrib.cli.answers import listed

ID = "call_01a22e885472700083056a7d9e09ffb5"
ROW = {
    "started_at": "then",
    "call_id": ID,
    "tool": "workshop_echo",
    "user_id": 3,
    "agent_id": None,
    "success": True,
    "duration_ms": 0.25,
}


@pytest.mark.parametrize(("width", "tabled"), [(80, False), (40, False), (140, True)])
def test_ids_stay_whole(width: int, tabled: bool):
    """A table where it fits; else each row below its id, and nothing of it is lost."""
    paper = StringIO()
    console = Console(file=paper, width=width)
    listed({"items": [ROW]}, *ROW, whole="call_id").show(console)
    text = paper.getvalue()
    assert ID in text
    assert ("─" in text) is tabled
    assert max(map(len, text.splitlines())) <= width
    for word in ("workshop_echo", "3", "yes", "0.25"):
        assert word in text
