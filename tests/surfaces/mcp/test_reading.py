"""This module checks which bodies are read quickly, and that both ways of reading agree."""

from __future__ import annotations

import pytest

from toolcrib.surfaces.mcp.body import Unreadable
from toolcrib.surfaces.mcp.reading import read_message
from toolcrib.tools.strict_json import read_strict_json

QUICK = {
    "a call": b'{"jsonrpc":"2.0","id":1,"params":{"arguments":{"a":[1,{"b":null}]}}}',
    "blanks": b'{ "a": 1, "b": [ true,\n {"c": "d"} ] }',
    "an id like a number": b'{"id":"7e57d004-2b97-4e7a-b45f-5387367791cd"}',
    "digits in a text": b'{"card":"4242424242424242424242"}',
    "the largest integer": b'{"n":18446744073709551615}',
    "a short fraction": b'{"n":-0.25}',
}
SLOW = {
    "a blank before a colon": b'{"a" :1}',
    "a key in a text": b'{"a":"\\":"}',
    "an exponent": b'{"n":1e5}',
    "more digits than a float has": b'{"n":0.12345678901234567}',
    "an integer of more than 64 bits": b'{"n":18446744073709551616}',
    "a mark at the beginning": b'\xef\xbb\xbf{"a":1}',
}


@pytest.mark.parametrize("body", QUICK.values(), ids=QUICK)
def test_what_can_be_read_in_one_way_only_is_read_quickly(body: bytes) -> None:
    assert read_message(body) == (read_strict_json(body), True)


@pytest.mark.parametrize("body", SLOW.values(), ids=SLOW)
def test_what_is_in_doubt_is_read_strictly(body: bytes) -> None:
    assert read_message(body) == (read_strict_json(body), False)


@pytest.mark.parametrize(
    "body", [b'{"a":1,"a":2}', b'{"a" :1,"a":2}', b'{"a":{"b":1,"b" :2}}', b'{"n":1e999}', b"{"]
)
def test_what_two_parsers_read_differently_is_refused(body: bytes) -> None:
    with pytest.raises(Unreadable):
        read_message(body)
