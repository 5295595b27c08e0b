"""Arguments are filled, coerced where the schema clearly wants it, and then judged."""

from __future__ import annotations

import copy
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.errors import InvalidArguments, InvalidToolSchema
from toolcrib.tools.schema import MAX_DEPTH, ArgumentChecker, normalised

PERSON = {
    "type": "object",
    "properties": {
        "who": {"type": "object", "properties": {"name": {"type": "string"}}},
        "ids": {"type": "array", "items": {"type": "integer"}},
        "count": {"type": "integer"},
        "flag": {"type": "boolean"},
        "text": {"type": "string"},
        "either": {"anyOf": [{"type": "string"}, {"type": "object"}]},
        "maybe": {"type": ["integer", "null"]},
        "ref": {"$ref": "#/$defs/Age"},
    },
    "$defs": {"Age": {"type": "integer"}},
}


@pytest.mark.parametrize(
    ("sent", "received"),
    [
        ({"who": '{"name":"a"}'}, {"who": {"name": "a"}}),
        ({"ids": "[1,2]"}, {"ids": [1, 2]}),
        ({"ids": ["1", 2.0]}, {"ids": [1, 2]}),
        ({"count": "5"}, {"count": 5}),
        ({"count": 5.0}, {"count": 5}),
        ({"count": "9007199254740993"}, {"count": 9007199254740993}),
        ({"flag": "false"}, {"flag": False}),
        ({"flag": "True"}, {"flag": True}),
        ({"text": '{"a":1}'}, {"text": '{"a":1}'}),
        ({"text": "007"}, {"text": "007"}),
        ({"either": '{"a":1}'}, {"either": '{"a":1}'}),
        ({"maybe": "null"}, {"maybe": None}),
        ({"ref": "41"}, {"ref": 41}),
    ],
)
def test_text_becomes_what_the_schema_wants(sent: object, received: object) -> None:
    """A model's text is read as another type only where the schema admits no string."""
    assert ArgumentChecker(PERSON).check(sent) == received


@pytest.mark.parametrize(
    ("sent", "place"),
    [({"count": "5x"}, "count"), ({"ids": '{"a":1}'}, "ids"), ({"flag": "maybe"}, "flag")],
)
def test_text_that_does_not_fit_names_the_place(sent: object, place: str) -> None:
    """A bad text is an error with the argument's path, and without the value."""
    with pytest.raises(InvalidArguments) as caught:
        ArgumentChecker(PERSON).check(sent)

    assert caught.value.message.startswith(f"{place}: ")


def test_a_whole_float_is_an_integer_only_where_one_is_wanted() -> None:
    """5.0 stays a float for a number and for an undeclared argument."""
    checker = ArgumentChecker({"properties": {"n": {"type": "number"}, "i": {"type": "integer"}}})

    received = checker.check({"n": 5.0, "i": 5.0, "x": 5.0})

    assert [type(received[key]) for key in ("n", "i", "x")] == [float, int, float]


@pytest.mark.parametrize("nothing", [None, "", "  ", "{}", "null", '""', {}])
@pytest.mark.parametrize(
    "schema",
    [
        None,
        {},
        {"type": "object"},
        {"type": "object", "properties": None},
        {"additionalProperties": False},
    ],
)
def test_no_arguments_are_an_empty_object(
    schema: dict[str, object] | None, nothing: object
) -> None:
    """Whatever a model sends for "nothing" reaches a tool without parameters as {}."""
    assert ArgumentChecker(schema).check(nothing) == {}


@pytest.mark.parametrize("wrong", ["[1]", "5", "{", [1], 5, {1: "a"}])
def test_arguments_that_are_no_object_are_refused(wrong: object) -> None:
    """Only a JSON object can be the arguments of a tool."""
    with pytest.raises(InvalidArguments):
        ArgumentChecker(None).check(wrong)


def test_defaults_are_filled_and_given_values_win() -> None:
    """An absent argument with a default is filled before it is judged."""
    checker = ArgumentChecker(
        {
            "properties": {"limit": {"type": "integer", "default": 10}, "q": {"type": "string"}},
            "required": ["q"],
        }
    )

    assert checker.check({"q": "x"}) == {"q": "x", "limit": 10}
    assert checker.check({"q": "x", "limit": 3}) == {"q": "x", "limit": 3}


def test_a_default_is_each_call_s_own() -> None:
    """A tool may change what it gets; the next caller gets what the schema says."""
    default = {"tags": []}
    checker = ArgumentChecker({"properties": {"options": {"type": "object", "default": default}}})

    checker.check({})["options"]["tags"].append("mine")

    assert checker.check({}) == {"options": {"tags": []}}


def test_a_closed_schema_refuses_what_it_does_not_declare() -> None:
    """Undeclared arguments pass or not as the tool's kind says."""
    open_, closed = ArgumentChecker({}), ArgumentChecker({}, closed=True)

    assert open_.check({"x": 1}) == {"x": 1}
    with pytest.raises(InvalidArguments):
        closed.check({"x": 1})


def test_values_never_show_in_the_message() -> None:
    """A refused argument may be a password."""
    checker = ArgumentChecker({"properties": {"pin": {"type": "integer"}}})

    with pytest.raises(InvalidArguments) as caught:
        checker.check({"pin": "hunter2hunter2"})

    assert "hunter2" not in str(caught.value)


def test_a_schema_may_not_reach_out() -> None:
    """References to files and addresses are refused when the schema is compiled."""
    for target in ("file:///etc/passwd", "http://127.0.0.1:9/schema", "https://example.test/x"):
        with pytest.raises(InvalidToolSchema):
            ArgumentChecker({"properties": {"a": {"$ref": target}}})


def test_a_broken_schema_is_refused_with_a_reason() -> None:
    """A pattern or type that cannot be compiled is the author's error."""
    for broken in ({"type": "objekt"}, {"properties": {"a": {"pattern": "("}}}):
        with pytest.raises(InvalidToolSchema):
            ArgumentChecker(broken)


def test_what_is_broken_in_a_schema_is_named() -> None:
    """By its place, in one line that does not repeat the value."""
    with pytest.raises(InvalidToolSchema, match=r"properties\.z\.type: ") as caught:
        ArgumentChecker({"properties": {"z": {"type": "strng"}}})
    assert "strng" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_unknown_dialect_is_left_out() -> None:
    """OpenAPI 3.1 puts its own dialect's address into schemas."""
    schema = {"$schema": "https://spec.openapis.org/oas/3.1/dialect/base", "type": "object"}

    assert normalised(schema) == {"type": "object", "properties": {}}


def test_deep_values_are_refused_not_followed() -> None:
    """A value nested without end must not exhaust the validator's stack."""
    value: dict[str, object] = {}
    for _ in range(MAX_DEPTH + 10):
        value = {"x": value}

    with pytest.raises(InvalidArguments):
        ArgumentChecker({}).check(value)


def test_nan_is_refused() -> None:
    """NaN is not JSON, whatever Python says."""
    with pytest.raises(InvalidArguments):
        ArgumentChecker({"properties": {"n": {"type": "number"}}}).check({"n": math.nan})


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=10,
)


@given(st.dictionaries(st.sampled_from(["text", "either", "other"]), JSON, max_size=3))
def test_what_is_valid_comes_back_unchanged(arguments: dict[str, object]) -> None:
    """Coercion never touches arguments that already fit, and never changes the caller's object."""
    before = copy.deepcopy(arguments)
    try:
        received = ArgumentChecker(PERSON).check(arguments)
    except InvalidArguments:
        received = before

    assert arguments == before
    assert received == before
