"""Call ids sort by time, in the order in which they were made."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from toolcrib.invocation.ids import CallIds, new_call_id


def ticking(times: list[int]) -> Callable[[], int]:
    """A clock that tells these times, one after the other."""
    told = iter(times)
    return lambda: next(told)


def test_an_id_is_a_uuid_of_version_7() -> None:
    """It carries the time at which it was made."""
    made = CallIds(lambda: 0x0123456789AB)()

    assert re.fullmatch(r"call_[0-9a-f]{32}", made)
    number = uuid.UUID(made.removeprefix("call_"))
    assert (number.version, number.variant) == (7, uuid.RFC_4122)
    assert number.int >> 80 == 0x0123456789AB


@given(st.lists(st.integers(min_value=1, max_value=2**47), min_size=2, max_size=50))
def test_ids_keep_their_order_whatever_the_clock_does(times: list[int]) -> None:
    """Also when it stands still or is set back."""
    new_id = CallIds(ticking(times))
    ids = [new_id() for _ in times]
    assert ids == sorted(set(ids))


def test_more_ids_than_a_millisecond_counts_go_on_in_the_next() -> None:
    """Twelve bits count them."""
    new_id = CallIds(lambda: 7)
    ids = [new_id() for _ in range(10_000)]
    assert ids == sorted(set(ids))


def test_the_ids_of_this_process_are_in_order() -> None:
    """With the real clock."""
    ids = [new_call_id() for _ in range(20_000)]
    assert ids == sorted(set(ids))
