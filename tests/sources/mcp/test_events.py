"""Streams of events, however they are cut: what comes out, and how much is read."""

from __future__ import annotations

from itertools import pairwise

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.sources.mcp.events import Event, Events, EventTooLarge
from toolcrib.sources.mcp.resting import CEILING, FLOOR

LINES = st.sampled_from(
    [
        b"data: a", b"data:b", b"data", b"data:  c", b"event: message", b"event: other", b"event:",
        b"id: 7", b"id", b"id: \0", b"retry: 1000", b"retry: x", b": comment", b"", b"", b"",
        "data: å→".encode(), b"unknown: x",
    ]
)  # fmt: skip
ENDS = st.sampled_from([b"\n", b"\r\n", b"\r"])


def read(pieces: list[bytes], most: int = 10_000) -> list[Event]:
    events = Events(most)
    found = [event for piece in pieces for event in events.feed(piece)]
    return [*found, *events.end()]


async def as_the_library(text: bytes) -> list[tuple[str, str, str, int | None]]:
    headers = {"Content-Type": "text/event-stream"}
    response = httpx2.Response(200, headers=headers, content=text, request=ASKED)
    return [(e.data, e.event, e.id, e.retry) async for e in httpx2.EventSource(response)]


ASKED = httpx2.Request("GET", "http://made.up/")


@given(st.lists(st.tuples(LINES, ENDS)), st.lists(st.integers(0, 200)))
async def test_no_cut_changes_what_comes_out(lines: list[tuple[bytes, bytes]], cuts: list[int]):
    """It is what httpx2 makes of the same stream, which the protocol library reads with."""
    text = b"".join(line + end for line, end in lines) + b"\n\n"
    places = sorted({min(cut, len(text)) for cut in cuts} | {0, len(text)})
    pieces = [text[a:b] for a, b in pairwise(places)]
    found = read(pieces)
    assert found == read([text])
    told = [(e.data.decode(), e.kind, e.last_id, e.retry) for e in found]
    assert told == await as_the_library(text)


def test_a_byte_order_mark_is_passed_over():
    assert read([b"\xef", b"\xbb\xbfdata: a\n\n"]) == [Event(b"a")]
    assert read([b"\xef\xbb\xbf", b"data: a\n\n"]) == [Event(b"a")]


def test_a_stream_that_ends_with_a_carriage_return_is_whole():
    assert read([b"data: a\r\r"]) == [Event(b"a")]


@pytest.mark.parametrize("piece", [b"data: " + b"a" * 200, b"data: aaaa\n" * 20])
def test_an_event_has_a_largest_size(piece: bytes):
    """Whether its line is open or it has many of them; what lies between events does not count."""
    with pytest.raises(EventTooLarge):
        read([piece], most=100)
    assert len(read([b"data: aaaa\n\n" * 20], most=100)) == 20


@pytest.mark.parametrize("digits", [3, 4000, 5000])
def test_a_server_may_name_any_time(digits: int):
    """It is bounded, however it is written: too soon as well as too late."""
    [late] = read([b"retry: " + b"9" * digits + b"\ndata: a\n\n"])
    [soon] = read([b"retry: 0\ndata: a\n\n"])
    assert late.retry is not None
    assert soon.retry is not None
    assert FLOOR == soon.retry < late.retry <= CEILING
