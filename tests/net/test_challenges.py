"""What a server says when it refuses: read as it is meant, and no further than it can be."""

from __future__ import annotations

import pytest

from toolcrib.net.challenges import Challenge, challenges, more_scopes

READ: dict[str, tuple[str, list[tuple[str, dict[str, str]]]]] = {
    "nothing": ("", []),
    "a scheme alone": ("Bearer", [("bearer", {})]),
    "quoted and plain": (
        'Bearer error="insufficient_scope", scope="a b",realm=x',
        [("bearer", {"error": "insufficient_scope", "scope": "a b", "realm": "x"})],
    ),
    "commas and escapes": (
        r'bearer realm="a, \"b\" \\ c", scope="d"',
        [("bearer", {"realm": r'a, "b" \ c', "scope": "d"})],
    ),
    "two in one": (
        'Basic realm="x", Bearer SCOPE = "y"',
        [("basic", {"realm": "x"}), ("bearer", {"scope": "y"})],
    ),
    "the first of two counts": ('Bearer scope="a", scope="b"', [("bearer", {"scope": "a"})]),
    "parameters of nobody": ('scope="a"', []),
    "broken off": ('Bearer error="x", scope="a b', [("bearer", {"error": "x"})]),
    "words inside a value": (
        'Bearer realm="Basic scope=evil", scope=good',
        [("bearer", {"realm": "Basic scope=evil", "scope": "good"})],
    ),
}


@pytest.mark.parametrize("case", READ)
def test_challenges_are_read(case: str) -> None:
    """By scheme, with the parameters of each."""
    header, expected = READ[case]
    found = [(one.scheme, dict(one.params)) for one in challenges([header])]
    if case == "broken off":
        assert found[0][1]["error"] == "x"
        assert more_scopes([header]) == ()
        return
    assert found == expected


def test_scopes_that_are_none_are_left_out() -> None:
    """Each once, no more than fifty, and none that no server could mean."""
    one = Challenge("bearer", {"scope": 'a b a "c" \\d é ' + "x" * 300})
    assert one.scopes == ("a", "b")
    many = Challenge("bearer", {"scope": " ".join(f"s{n}" for n in range(1000))})
    assert len(many.scopes) == 50


@pytest.mark.parametrize(
    ("header", "scopes"),
    [
        ('Bearer error="insufficient_scope", scope="write"', ("write",)),
        ('Bearer error="invalid_token", scope="write"', ()),
        ('Bearer scope="write"', ()),
        ('DPoP error="insufficient_scope", scope="write"', ()),
        ('Basic realm="x", Bearer error=insufficient_scope, scope=write', ("write",)),
        ('Bearer error="insufficient_scope"', ()),
    ],
)
def test_only_a_lack_of_scopes_is_one(header: str, scopes: tuple[str, ...]) -> None:
    """A token that is over is no reason to ask for more."""
    assert more_scopes([header]) == scopes


def test_a_long_header_is_read_quickly() -> None:
    """What a hostile server sends is cut, and costs no more than its length."""
    for hostile in ('Bearer a="' + "\\" * 100_000, "Bearer " + "a=" * 50_000, "," * 100_000):
        assert more_scopes([hostile]) == ()
