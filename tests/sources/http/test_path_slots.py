"""This module tries to break out of a path segment, a query pair and a host."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.sources.http.conftest import Bench
from toolcrib.errors import InvalidArguments, InvalidOptions
from toolcrib.secrets.placeholders import SETTINGS
from toolcrib.sources.http.operation import Draft, Operation
from toolcrib.sources.http.segments import SegmentRules
from toolcrib.sources.http.slots import Values, read_text
from toolcrib.sources.http.styles import delimited, form, header_text, path_writer, plain

MISSING = "API request failed: missing required path parameter 'id'"


def operation(
    url: str, values: dict[str, str] | None = None, rules: SegmentRules | None = None, **fields: Any
) -> Operation:
    """The compiled form of a URL template."""
    draft = Draft(
        method="GET",
        url=read_text(url, SETTINGS),
        url_where="options.url",
        segments=rules or SegmentRules(),
        **fields,
    )
    return draft.bind(Values(values or {}, SETTINGS))


@pytest.mark.parametrize(
    ("value", "segment"),
    [
        ("../../admin/config", "..%2F..%2Fadmin%2Fconfig"),
        ("a?x=1", "a%3Fx%3D1"),
        ("a#f", "a%23f"),
        ("50%", "50%25"),
        ("%2e%2e", "%252e%252e"),
        ("日本 é", "%E6%97%A5%E6%9C%AC%20%C3%A9"),
        (7, "7"),
        (2.5, "2.5"),
        (True, "true"),
        ("a\r\nHost: evil", "a%0D%0AHost%3A%20evil"),
        ("x@evil.test", "x%40evil.test"),
        ("a;b=c", "a%3Bb%3Dc"),
        ("\\..\\x", "%5C..%5Cx"),
        ("...", "..."),
        ("{id}", "%7Bid%7D"),
        ("${API_TOKEN}", "%24%7BAPI_TOKEN%7D"),
    ],
)
async def test_a_value_stays_one_segment_on_the_wire(
    bench: Bench, value: object, segment: str
) -> None:
    """Whatever the value holds, the request line has it as one encoded segment."""
    source = await bench.api(
        {
            "name": "get_record",
            "url": bench.url("/records/{id}/view"),
            "headers": {"Authorization": "Bearer ${API_TOKEN}"},
        },
        {"API_TOKEN": "tok"},
    )
    request = await bench.sent(source, {"id": value})
    assert request.target == f"/records/{segment}/view"
    assert request.header("Host") == bench.upstream.place
    assert request.header("Authorization") == "Bearer tok"


@pytest.mark.parametrize("arguments", [{}, {"id": None}, {"id": ""}])
async def test_a_missing_slot_is_an_argument_error(bench: Bench, arguments: dict[str, Any]) -> None:
    """The published sentence, and nothing is sent."""
    source = await bench.api({"name": "get_record", "url": bench.url("/records/{id}")})
    output = await bench.call(source, arguments)
    assert output.error is not None
    assert (output.error.code, output.text) == ("invalid_arguments", MISSING)
    assert bench.upstream.requests == []


@pytest.mark.parametrize("value", [".", ".."])
async def test_dot_segments_are_refused(bench: Bench, value: str) -> None:
    """Percent-encoding leaves dots, and servers read them as steps."""
    source = await bench.api({"name": "get_record", "url": bench.url("/records/{id}/view")})
    output = await bench.call(source, {"id": value})
    assert output.error is not None
    assert output.error.code == "invalid_arguments"
    assert bench.upstream.requests == []


@pytest.mark.parametrize(
    ("url", "arguments"),
    [
        ("https://h.test/{a}{b}/x", {"a": ".", "b": "."}),
        ("https://h.test/.{a}/x", {"a": "."}),
        ("https://h.test/%2e{a}/x", {"a": "."}),
        ("https://h.test/{a}{b}", {"a": "", "b": ".."}),
    ],
)
def test_dot_segments_cannot_be_put_together(url: str, arguments: dict[str, str]) -> None:
    """Text, slots and encoded dots of one segment are judged together."""
    with pytest.raises(InvalidArguments, match="may not be"):
        operation(url).render(arguments)


async def test_an_optional_slot_without_a_value_is_empty_text(bench: Bench) -> None:
    """A declared slot that is not required may be left out."""
    source = await bench.api(
        {
            "name": "x",
            "url": bench.url("/items/{id}?q={q}&f=a:{q}"),
            "path_params": {
                "id": {"type": "integer", "default": 3},
                "q": {"type": "string", "required": False},
            },
        }
    )
    assert (await bench.sent(source, {})).target == "/items/3?f=a:"
    assert (await bench.sent(source, {"q": "x y"})).target == "/items/3?q=x%20y&f=a:x%20y"


@given(st.text(), st.text())
def test_no_value_leaves_its_place(first: str, second: str) -> None:
    """Segments, query keys and the host stay the author's, and the values read back."""
    made = operation(
        "https://h.test/a/{x}/b?k={y}&z=1",
        query=(plain("y", "extra"),),
    )
    try:
        url = made.render({"x": first, "y": second}).url
    except InvalidArguments:
        assert first in {".", ".."} or not (first + second).isprintable()
        return
    parts = urlsplit(url)
    assert (parts.scheme, parts.netloc) == ("https", "h.test")
    assert [unquote(segment) for segment in parts.path.split("/")] == ["", "a", first, "b"]
    pairs = parse_qsl(parts.query, keep_blank_values=True)
    assert pairs == [("k", second), ("z", "1"), ("extra", second)]
    assert parts.fragment == ""


@pytest.mark.parametrize(
    ("template", "values", "url"),
    [
        ("https://${HOST}/v1/{id}", {"HOST": "api.test"}, "https://api.test/v1/7"),
        ("https://${HOST}/v1/{id}", {"HOST": "api.test:8443"}, "https://api.test:8443/v1/7"),
        ("https://${HOST}/v1/{id}", {"HOST": "api.test/base"}, "https://api.test/base/v1/7"),
        ("${BASE}/v1/{id}", {"BASE": " https://API.test "}, "https://api.test/v1/7"),
        ("${BASE}/{id}", {"BASE": "https://api.test/a b/é"}, "https://api.test/a%20b/%C3%A9/7"),
        ("${BASE}?i={id}", {"BASE": "https://api.test/s"}, "https://api.test/s?i=7"),
        ("https://api.test:${PORT}/{id}", {"PORT": "8443"}, "https://api.test:8443/7"),
        ("https://münchen.test/{id}#part", {}, "https://xn--mnchen-3ya.test/7"),
        ("https://[2001:4860::1]:8443/{id}", {}, "https://[2001:4860::1]:8443/7"),
        ("https://api.test", {}, "https://api.test/"),
        ("https://api.test?a=%41%4&b", {}, "https://api.test/?a=%41%254&b"),
        ("https://api.test/${ID}", {"ID": "{id}"}, "https://api.test/%7Bid%7D"),
        ("https://api.test/{{id}}/$${id}", {}, "https://api.test/%7B%7Bid%7D%7D/$%7Bid%7D"),
    ],
)
def test_urls_are_read_as_their_author_wrote_them(
    template: str, values: dict[str, str], url: str
) -> None:
    """Stored values may be whole parts of a URL; the rest is encoded once."""
    assert operation(template, values).render({"id": 7}).url == url


@pytest.mark.parametrize(
    ("template", "values"),
    [
        ("api.test/v1", {}),
        ("ftp://api.test/v1", {}),
        ("//api.test/v1", {}),
        ("{scheme}://api.test/v1", {}),
        ("https://user:pw@api.test/", {}),
        ("https://${HOST}.example.test/", {"HOST": "evil.test/"}),
        ("https://${HOST}.example.test/", {"HOST": "evil.test?"}),
        ("https://${HOST}.example.test/", {"HOST": "evil.test#"}),
        ("https://${HOST}.example.test/", {"HOST": "a@evil.test"}),
        ("https://${HOST}.example.test/", {"HOST": "evil.test:443/"}),
        ("https://${HOST}${REST}/", {"HOST": "evil.test/", "REST": ".api.test"}),
        ("https://${HOST}{id}/", {"HOST": "api.test"}),
        ("https://api{id}.test/", {}),
        ("https://api.test:{id}/", {}),
        ("https://api.test:99999/", {}),
        ("https://api.test\\x/", {}),
        ("https://2130706433/", {}),
        ("https:///v1", {}),
        ("https://api.test/#{id}", {}),
        ("https://api.test/\x01", {}),
        ("https://api.test/${A}", {"A": "x\r\ny"}),
    ],
)
def test_urls_that_mean_two_things_are_refused(template: str, values: dict[str, str]) -> None:
    """No slot and no stored value moves the host, and what is no address is named as such."""
    with pytest.raises(InvalidOptions) as caught:
        operation(template, values)
    assert caught.value.where == "options.url"


def test_a_slot_in_the_host_is_one_label() -> None:
    """The model may choose a part of the host where the author says so, never more of it."""
    regional = operation("https://{region}.api.test/v1")
    assert regional.render({"region": "eu-1"}).url == "https://eu-1.api.test/v1"
    for value in ("evil.test/", "a.b", "", "a:1", "a@b", "-a", "ü", "a\n"):
        with pytest.raises(InvalidArguments):
            regional.render({"region": value})


def test_a_slot_that_is_the_whole_host_is_a_host_name() -> None:
    """Dots are allowed there, and nothing that ends a host."""
    anywhere = operation("https://{host}/v1")
    assert anywhere.render({"host": "Shop.Example.test"}).url == "https://shop.example.test/v1"
    for value in ("a/b", "a:8080", "u@h", "", "a..b", "[::1]", "0x7f.1"):
        with pytest.raises(InvalidArguments):
            anywhere.render({"host": value})


def test_arguments_may_fill_paths_and_headers_in_styles_of_their_own() -> None:
    """A draft takes writers for its slots, its query and its headers."""

    def tags(arguments: Mapping[str, Any]) -> tuple[str, str] | None:
        return ("X-Tags", header_text(arguments["tags"])) if "tags" in arguments else None

    made = operation(
        "https://h.test/a{id}/b",
        rules=SegmentRules(writers={"id": path_writer("matrix", "id", explode=True)}),
        query=(form("ids", "ids"), delimited("p", "p", "|")),
        header_writers=(tags,),
    )
    full = made.render({"id": [1, "/"], "ids": [1, 2], "p": ["a", "b"], "tags": ["x", "y"]})
    assert full.url == "https://h.test/a;id=1;id=%2F/b?ids=1&ids=2&p=a%7Cb"
    assert full.headers == [("X-Tags", "x,y")]
    assert made.render({"id": 5}).url == "https://h.test/a;id=5/b"
    assert made.render({"id": 5}).headers == []


def test_half_a_character_is_an_argument_error() -> None:
    """A lone surrogate has no bytes."""
    with pytest.raises(InvalidArguments, match="surrogate"):
        operation("https://h.test/{x}").render({"x": "\ud800"})


@pytest.mark.parametrize(
    ("style", "explode", "value"),
    [
        ("simple", False, [".."]),
        ("simple", False, "."),
        ("simple", True, ["."]),
        ("label", False, "."),
        ("label", True, ["", ""]),
        ("label", True, ["."]),
    ],
)
def test_no_style_makes_a_dot_segment(style: Any, explode: bool, value: object) -> None:
    """What a style puts together is judged as it stands in the path."""
    rules = SegmentRules(writers={"id": path_writer(style, "id", explode=explode)})
    with pytest.raises(InvalidArguments, match="may not be"):
        operation("https://h.test/a/{id}/b", rules=rules).render({"id": value})


@pytest.mark.parametrize("value", ["a\r\nX-Admin: 1", "a\nb", "\0", "\x7f", "\ud800"])
def test_no_argument_ends_a_header(value: str) -> None:
    """It is an error of the argument, with the header's name."""

    def header(arguments: Mapping[str, Any]) -> tuple[str, str]:
        return "X-Id", header_text(arguments["id"])

    made = operation("https://h.test/", header_writers=(header,))
    with pytest.raises(InvalidArguments, match="'X-Id'"):
        made.render({"id": value})
    assert made.render({"id": " a\tb "}).headers == [("X-Id", "a\tb")]


@pytest.mark.parametrize(
    "value",
    [10**5000, float("nan"), float("inf"), -float("inf")],
    ids=["long", "nan", "inf", "-inf"],
)
def test_a_number_that_nobody_can_write_is_an_argument_error(value: float) -> None:
    """It is no fault of the program."""
    with pytest.raises(InvalidArguments):
        operation("https://h.test/{x}?q={x}").render({"x": value})


def test_a_url_of_a_megabyte_is_an_argument_error() -> None:
    """The model can give less; nothing is judged or sent."""
    for template in ("https://h.test/{x}", "https://h.test/?q={x}"):
        with pytest.raises(InvalidArguments, match="more than 65536 characters"):
            operation(template).render({"x": "a" * 1_000_000})
