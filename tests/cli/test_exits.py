"""Exit codes: one for each error, whether it was raised here or came as a problem document."""

from __future__ import annotations

import inspect

import pytest

from toolcrib import errors
from toolcrib.cli.exits import EXITS, MEANINGS, error_of, exit_of, exit_of_code
from toolcrib.errors import Conflict, NotFound, NotGranted, ToolcribError

CLASSES = [
    one for _, one in inspect.getmembers(errors, inspect.isclass) if issubclass(one, ToolcribError)
]


def test_every_error_has_its_own_line():
    """A new class must be decided about."""
    assert sorted(EXITS, key=lambda c: c.__name__) == sorted(CLASSES, key=lambda c: c.__name__)


def test_every_code_has_a_meaning():
    """The reference page explains each number that a command may end with."""
    assert set(EXITS.values()) <= set(MEANINGS)


def test_foreign_subclass_ends_like_its_parent():
    """A class from elsewhere counts as the nearest of ours."""

    class Vanished(NotFound):
        """Gone."""

    assert exit_of(Vanished) == 3


SHARED = {"internal", "not_granted", "timeout", "upstream_error"}
"""Codes that classes with different exits share: the next test looks at them."""


@pytest.mark.parametrize(
    "one", [one for one in CLASSES if one.code not in SHARED], ids=lambda c: c.__name__
)
def test_problem_ends_like_its_error(one: type[ToolcribError]):
    """What REST answers about an error ends the command with the number of that error's kind."""
    made = error_of(500, {"code": one.code, "detail": "It broke.", "hint": "Mend it."})
    assert (exit_of(type(made)), made.message, made.hint) == (EXITS[one], "It broke.", "Mend it.")


@pytest.mark.parametrize(
    ("status", "problem", "expected"),
    [
        (403, {"code": "not_granted", "detail": "No."}, 4),
        (504, {"code": "timeout", "detail": "Slow."}, 8),
        (502, {"code": "upstream_error", "detail": "Bad."}, 8),
        (500, {"code": "internal", "detail": "Oh."}, 1),
        (413, {"code": "too_large", "detail": "Long."}, 2),
        (404, {}, 3),
        (418, {}, 1),
    ],
)
def test_problems_by_code_or_status(status: int, problem: dict[str, str], expected: int):
    """Where the code says nothing, the status decides."""
    assert exit_of(type(error_of(status, problem))) == expected


def test_problem_keeps_the_place():
    """`where` names the place in what was sent."""
    made = error_of(422, {"code": "invalid_request", "detail": "Bad.", "where": "name"})
    assert (exit_of(type(made)), made.where) == (2, "name")


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("invalid_arguments", 2),
        ("not_granted", 4),
        ("secret_missing", 4),
        ("timeout", 8),
        ("tool_error", 8),
        ("something_new", 8),
        (None, 8),
    ],
)
def test_failed_calls(code: str | None, expected: int):
    """A call that failed ends with a number that says how."""
    assert exit_of_code(code) == expected


def test_conflict_and_refusal():
    """The two that scripts tell apart most often."""
    assert (exit_of(Conflict), exit_of(NotGranted)) == (5, 4)
