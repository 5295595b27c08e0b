"""This module fills JSON, form, XML and other templates with values that try to break out."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import parse_qsl
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.sources.http.conftest import Bench
from toolcrib.errors import InvalidArguments, InvalidOptions
from toolcrib.secrets.placeholders import SETTINGS
from toolcrib.sources.http.raws import compile_raw
from toolcrib.sources.http.slots import Values, read_text
from toolcrib.sources.http.trees import compile_tree, read_tree

TEMPLATE: dict[str, Any] = {
    "source": "fixed",
    "message": {"text": "{text}", "line": "Hello {text}!", "pinned": "{pinned}", "list": "{tags}"},
    "literal": "{not a slot} {} {{text}}",
    "n": "{n}",
    "items": ["{n}", "last"],
    "{text}": 1,
}
OPTIONS: dict[str, Any] = {
    "name": "post_msg",
    "method": "POST",
    "body_template": TEMPLATE,
    "body_params": {
        "text": {"type": "string", "required": True},
        "pinned": {"type": "boolean", "required": True},
        "n": {"type": "integer", "required": False},
    },
}
HARD = [
    'say "hi"\n\\ {pinned} ${SECRET} {{NOTES_KEY}}',
    'x","admin":true,"y":"',
    "",
    "𝄞 é",
    "</text><admin/>&amp;",
    "a=1&b=2;c",
]

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
xml_text = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"], exclude_characters="\ufffe\uffff")
    | st.sampled_from("\t\n\r")
)


def fill_raw(
    template: str, kind: str, arguments: dict[str, Any], values: dict[str, str] | None = None
) -> str:
    """A raw template of that Content-Type, filled."""
    placed = Values(values or {}, SETTINGS).place(read_text(template, SETTINGS), "options")
    return compile_raw(placed, kind, where="options")(arguments)


def fill_tree(
    template: Any, arguments: dict[str, Any], values: dict[str, str] | None = None
) -> Any:
    """A JSON template, filled."""
    tree = read_tree(template, lambda text: read_text(text, SETTINGS), "options")
    return compile_tree(tree, Values(values or {}, SETTINGS))(arguments)


@pytest.mark.parametrize("text", HARD)
async def test_a_json_template_is_filled_as_data(bench: Bench, text: str) -> None:
    """A text arrives as the very same text, whole or inside another, and adds no key."""
    source = await bench.api({**OPTIONS, "url": bench.url("/m")})
    request = await bench.sent(source, {"text": text, "pinned": False, "tags": "t"})
    assert json.loads(request.body) == {
        "source": "fixed",
        "message": {"text": text, "line": f"Hello {text}!", "pinned": False, "list": "t"},
        "literal": "{not a slot} {} {{text}}",
        "items": ["last"],
        "{text}": 1,
    }


async def test_an_optional_leaf_comes_with_its_argument(bench: Bench) -> None:
    """Without a value its key and its list item are left out; with one they keep its type."""
    source = await bench.api({**OPTIONS, "url": bench.url("/m")})
    request = await bench.sent(source, {"text": "x", "pinned": True, "tags": "t", "n": 0})
    body = json.loads(request.body)
    assert (body["n"], body["items"]) == (0, [0, "last"])


@given(json_values, st.text())
def test_a_whole_leaf_is_its_argument(value: Any, text: str) -> None:
    """Any JSON value at a whole leaf comes out equal; in text, text comes out equal."""
    made = fill_tree({"a": "{v}", "b": ["{v}"], "c": "<{t}>"}, {"v": value, "t": text})
    assert made == {"a": value, "b": [value], "c": f"<{text}>"}


@given(
    st.text(alphabet='${}ABx\\1& "\n', min_size=1).filter(lambda text: bool(text.strip())),
    st.text(alphabet='${}ABx\\1& "\n'),
)
def test_values_and_arguments_are_never_read_again(stored: str, argument: str) -> None:
    """A stored value or an argument that looks like a template comes out as it is."""
    template = {"k": "${A}", "x": "{x}", "both": "${A}-{x}-${B}", "same": "$${A} {{x}}"}
    assert fill_tree(template, {"x": argument}, {"A": stored, "B": "b"}) == {
        "k": stored,
        "x": argument,
        "both": f"{stored}-{argument}-b",
        "same": "${A} {{x}}",
    }


@pytest.mark.parametrize("text", HARD)
async def test_a_raw_json_template_keeps_its_text(bench: Bench, text: str) -> None:
    """A package's raw JSON body reads back with the same keys and the same text."""
    bench.secrets |= {"NOTES_URL": bench.url(""), "NOTES_KEY": "key-123456"}
    source = await bench.package(
        {
            "slug": "note_save",
            "name": "Note save",
            "type": "http",
            "config": {
                "url": "{{NOTES_URL}}/notes/{id}",
                "method": "POST",
                "headers": {"X-API-Key": "{{NOTES_KEY}}", "Content-Type": "application/json"},
                "timeout": 10,
                "static_body": {"app": "t"},
                "body_template": '{"title":"{title}","app":"t"}',
            },
            "input_schema": {
                "type": "object",
                "properties": {"id": {"type": "string"}, "title": {"type": "string"}},
                "required": ["id", "title"],
            },
        }
    )
    request = await bench.sent(source, {"id": "7", "title": text})
    assert json.loads(request.body) == {"title": text, "app": "t"}
    assert request.header("X-API-Key") == "key-123456"


@given(json_values, st.text())
def test_raw_json_parses_back(value: Any, text: str) -> None:
    """In quotes a text is string content; without quotes any value is one JSON value."""
    arguments = {"t": text, "v": value}
    made = fill_raw('{"a":"x{t}y","b":{v},"c":[{v},"\\"{t}"]}', "application/json", arguments)
    assert json.loads(made) == {"a": f"x{text}y", "b": value, "c": [value, f'"{text}']}


@given(st.text(), st.text())
def test_raw_forms_parse_back(first: str, second: str) -> None:
    """A value adds no field, and stored values are escaped like arguments."""
    made = fill_raw(
        "To={to}&Key=${KEY}&end=1",
        "application/x-www-form-urlencoded; charset=utf-8",
        {"to": first},
        {"KEY": second if second.strip() else "k"},
    )
    assert parse_qsl(made, keep_blank_values=True) == [
        ("To", first),
        ("Key", second if second.strip() else "k"),
        ("end", "1"),
    ]


@given(xml_text, xml_text)
def test_raw_xml_parses_back(first: str, second: str) -> None:
    """In an element and in an attribute, a value is character data and nothing else."""
    made = fill_raw('<m to="{a}"><t>{b}</t></m>', "application/soap+xml", {"a": first, "b": second})
    root = ET.fromstring(made)  # noqa: S314 - our own text
    assert root.attrib == {"to": first}
    assert [child.tag for child in root] == ["t"]
    assert (root[0].text or "") == second


def test_xml_refuses_what_it_cannot_hold() -> None:
    """No XML document has a NUL."""
    with pytest.raises(InvalidArguments, match=r"U\+0000"):
        fill_raw("<t>{b}</t>", "text/xml", {"b": "\0"})


@pytest.mark.parametrize(
    ("template", "kind", "arguments", "text"),
    [
        (
            "Hi {n}, {b} {f}",
            "text/plain",
            {"n": 'a"&<', "b": True, "f": 1e-7},
            'Hi a"&<, true 0.0000001',
        ),
        ('{"n":{n}}', "application/json", {"n": 'x","a":1'}, '{"n":"x\\",\\"a\\":1"}'),
        ('{"n":{n}}', "application/json", {}, '{"n":null}'),
        ('{"n":"{n}"}', "application/json", {"n": [1, "a"]}, '{"n":"[1,\\"a\\"]"}'),
        ('{"n":{n}}', "application/vnd.api+json", {"n": 2**70}, f'{{"n":{2**70}}}'),
        ("{{n}} {not} ${x}", "text/plain", {"not": 1}, "{{n}} 1 ${x}".replace("${x}", "v")),
    ],
)
def test_values_are_written_for_their_content_type(
    template: str, kind: str, arguments: dict[str, Any], text: str
) -> None:
    """Each type of body has its own way to keep a value a value."""
    assert fill_raw(template, kind, arguments, {"x": "v"}) == text


@pytest.mark.parametrize(
    ("stored", "value"), [("10", 10), ("true", True), ('a"b', 'a"b'), ("1,2", "1,2")]
)
def test_a_stored_value_outside_quotes_is_one_json_value(stored: str, value: object) -> None:
    """A number stays a number, and what is no JSON becomes a string."""
    made = fill_raw('{"n":${N},"m":"${N}"}', "application/json", {}, {"N": stored})
    assert json.loads(made) == {"n": value, "m": stored}


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        ("text/plain", "é€".encode()),
        ("text/plain; charset=nonsense", "é€".encode()),
        ('text/xml; charset="iso-8859-1"', b"\xe9&#8364;"),
    ],
)
async def test_a_text_is_sent_in_the_charset_that_it_names(
    bench: Bench, kind: str, data: bytes
) -> None:
    """The header and the bytes say the same; XML writes what the charset lacks as references."""
    options = {
        "name": "x",
        "method": "POST",
        "url": bench.url("/x"),
        "headers": {"Content-Type": kind},
        "body_template": "{t}",
    }
    assert (await bench.sent(await bench.api(options), {"t": "é€"})).body == data


async def test_what_a_charset_lacks_is_an_argument_error(bench: Bench) -> None:
    """Plain text has no way to write it."""
    options = {
        "name": "x",
        "method": "POST",
        "url": bench.url("/x"),
        "headers": {"Content-Type": "text/plain; charset=iso-8859-1"},
        "body_template": "{t}",
    }
    output = await bench.call(await bench.api(options), {"t": "€"})
    assert output.error is not None
    assert output.error.code == "invalid_arguments"


def test_a_slot_behind_a_backslash_has_no_safe_place() -> None:
    """The backslash would take the value's first character."""
    with pytest.raises(InvalidOptions, match="backslash"):
        fill_raw('{"n":"\\{n}"}', "application/json", {"n": "x"})
