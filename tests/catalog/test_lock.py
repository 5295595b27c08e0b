"""The file `tools.lock`: the same tools give the same bytes, and what drifts is found."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.catalog.definitions import DEFINITIONS
from toolcrib.catalog.characters import is_hidden
from toolcrib.catalog.lock import Seen, drift_of, lock_of, read_lock, write_lock
from toolcrib.catalog.pins import fingerprint_of_definition
from toolcrib.catalog.schema_diff import same
from toolcrib.errors import InvalidOptions, InvalidRequest

REFS = st.sampled_from(["mcp:wiki/search", "native:notes/add", "package:installed__x/x"])


def seen(ref: str, definition: dict[str, Any], state: str = "accepted") -> Seen:
    return Seen(
        ref=ref,
        fingerprint=fingerprint_of_definition(definition),
        state=state,
        definition=definition,
    )


ONE = {"name": "search", "description": "One."}
TWO = {"name": "search", "description": "Two."}
REF = "mcp:wiki/search"


def is_text(definition: dict[str, Any]) -> bool:
    """Half a surrogate pair is in no definition that is accepted: no database holds it."""
    try:
        json.dumps(definition, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


@given(st.lists(st.builds(seen, REFS, DEFINITIONS.filter(is_text)), max_size=4))
def test_what_is_written_is_read_again(tools: list[Seen]) -> None:
    """Whatever the definitions hold; the file shows each hidden character as an escape."""
    locked = lock_of(tools)
    text = write_lock(locked)

    again = read_lock(text)

    assert write_lock(again) == text
    assert list(again) == list(locked)
    assert not any(is_hidden(c) for c in text)
    for ref, entries in locked.items():
        for mine, theirs in zip(entries, again[ref], strict=True):
            assert same(mine.definition, theirs.definition)
    assert drift_of(again, tools) == []


@given(st.lists(st.builds(seen, REFS, DEFINITIONS), max_size=4), st.randoms())
def test_order_is_nothing(tools: list[Seen], chance: Any) -> None:
    turned = list(tools)
    chance.shuffle(turned)
    assert write_lock(lock_of(turned)) == write_lock(lock_of(tools))


def test_one_change_is_a_small_change_of_the_file() -> None:
    before = write_lock(lock_of([seen(REF, ONE), seen("native:a/b", TWO)])).splitlines()
    after = write_lock(lock_of([seen(REF, TWO), seen("native:a/b", TWO)])).splitlines()
    assert len([1 for one, other in zip(before, after, strict=True) if one != other]) == 2


def test_drift_has_its_kind() -> None:
    locked = lock_of([seen(REF, ONE), seen("native:gone/x", ONE)])

    found = drift_of(
        locked,
        [
            seen(REF, TWO),
            seen("native:new/y", ONE),
            seen("mcp:wiki/held", TWO, "held"),
        ],
    )

    assert [(one.ref, one.kind) for one in found] == [
        ("mcp:wiki/held", "held"),
        (REF, "changed"),
        ("native:gone/x", "missing"),
        ("native:new/y", "new"),
    ]
    changed = found[1]
    assert (changed.before, changed.after) == (ONE, TWO)


def test_what_waits_is_drift_although_the_accepted_one_is_locked() -> None:
    locked = lock_of([seen(REF, ONE)])
    found = drift_of(locked, [seen(REF, ONE), seen(REF, TWO, "held")])
    assert [(one.kind, one.before, one.after) for one in found] == [("held", ONE, TWO)]


def test_a_retouched_file_is_refused() -> None:
    """Neither the definition nor the fingerprint can be changed alone."""
    text = write_lock(lock_of([seen(REF, ONE)]))
    for old, new in (("One.", "Two."), ("sha256:", "sha256:0")):
        with pytest.raises(InvalidOptions) as caught:
            read_lock(text.replace(old, new))
        assert caught.value.where == f"tools.{REF}[0].fingerprint"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"version": 1}',
        '{"version": 2, "tools": {}}',
        '{"version": true, "tools": {}}',
        '{"version": 1, "tools": []}',
        '{"version": 1, "tools": {"a": {}}}',
        '{"version": 1, "tools": {"a": []}}',
        '{"version": 1, "tools": {"a": [1]}}',
        '{"version": 1, "tools": {"a": [{"fingerprint": "x"}]}}',
        '{"version": 1, "tools": {}, "version": 1}',
        json.dumps({"version": 1, "tools": {"a": [{"fingerprint": 1, "definition": {}}]}}),
    ],
)
def test_what_is_no_lock_is_refused(text: str) -> None:
    with pytest.raises((InvalidRequest, InvalidOptions)):
        read_lock(text)
