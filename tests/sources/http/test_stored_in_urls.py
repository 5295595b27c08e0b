"""This module puts hostile stored values into every position of a URL."""

from __future__ import annotations

import json
from urllib.parse import parse_qsl, unquote, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.sources.http.conftest import Bench
from toolcrib.errors import InvalidOptions
from toolcrib.secrets.placeholders import SETTINGS
from toolcrib.sources.http.operation import Draft
from toolcrib.sources.http.segments import SegmentRules
from toolcrib.sources.http.slots import Values, read_text
from toolcrib.sources.mcp.addressing import of_capability, of_package
from toolcrib.sources.mcp.servers import HttpServer

stored = st.text(
    st.characters(exclude_categories=["Cs", "Cc"]) | st.sampled_from("&=#?/%+;@:\\ .{}$"),
    min_size=1,
    max_size=30,
).filter(lambda text: bool(text.strip()))


def url_of(template: str, values: dict[str, str], arguments: dict[str, str] | None = None) -> str:
    """The URL of a call."""
    draft = Draft(
        method="GET",
        url=read_text(template, SETTINGS),
        url_where="options.url",
        segments=SegmentRules(),
    )
    return draft.bind(Values(values, SETTINGS)).render(arguments or {}).url


@given(stored, stored)
def test_a_stored_value_in_the_query_is_one_text(key: str, name: str) -> None:
    """It adds no parameter, cuts none off, and reads back as it was stored."""
    url = url_of(
        "https://h.test/s?a=1&k=${K}&n=x${N}y{q}&z=2#part", {"K": key, "N": name}, {"q": "&c=d"}
    )
    parts = urlsplit(url)
    assert (parts.netloc, parts.path, parts.fragment) == ("h.test", "/s", "")
    assert parse_qsl(parts.query, keep_blank_values=True) == [
        ("a", "1"),
        ("k", key.strip()),
        ("n", f"x{name.strip()}y&c=d"),
        ("z", "2"),
    ]


@given(stored)
def test_a_stored_value_in_the_path_is_path(value: str) -> None:
    """It may be several segments, and neither begins the query nor takes a step up."""
    text = value.strip()
    try:
        url = url_of("https://h.test/a/${V}/b?z=1", {"V": value})
    except InvalidOptions:
        assert any(part in {".", ".."} for part in text.split("/"))
        return
    parts = urlsplit(url)
    assert (parts.netloc, parts.query, parts.fragment) == ("h.test", "z=1", "")
    assert unquote(parts.path) == f"/a/{text}/b"


@given(stored)
def test_no_stored_value_in_the_hosts_place_moves_what_is_behind_it(value: str) -> None:
    """Whatever begins a path or a query too early is refused; so is a second authority."""
    try:
        url = url_of("https://${HOST}/fixed/{id}?k=1", {"HOST": value}, {"id": "7"})
    except InvalidOptions:
        return
    parts = urlsplit(url)
    assert "@" not in parts.netloc
    assert parts.path.endswith("/fixed/7")
    assert (parts.query, parts.fragment) == ("k=1", "")


@pytest.mark.parametrize(
    ("template", "values", "url"),
    [
        # Tokens in paths and queries arrive exactly.
        ("https://h.test/bot${T}/send", {"T": "12:A-b_c"}, "https://h.test/bot12:A-b_c/send"),
        ("https://h.test/hooks/${P}", {"P": "T0/B0/x=="}, "https://h.test/hooks/T0/B0/x=="),
        ("https://h.test/${P}", {"P": "50%"}, "https://h.test/50%25"),
        ("https://h.test/${P}", {"P": "a%2Fb"}, "https://h.test/a%252Fb"),
        ("https://h.test/?k=${K}", {"K": "a+b/c=="}, "https://h.test/?k=a%2Bb%2Fc%3D%3D"),
        ("https://h.test/?k=${K}", {"K": "a%20b"}, "https://h.test/?k=a%2520b"),
        ("https://h.test/?${K}=1", {"K": "a&b"}, "https://h.test/?a%26b=1"),
        ("https://h.test/?k=${K}${L}", {"K": "a&", "L": "&b"}, "https://h.test/?k=a%26%26b"),
        # In the place of whole pairs a value may be several: signed addresses have such a tail.
        ("https://h.test/f?${S}", {"S": "sv=1&sig=a%2Bb"}, "https://h.test/f?sv=1&sig=a%2Bb"),
        ("https://h.test/f?a=1&${S}&z=2", {"S": "b=2"}, "https://h.test/f?a=1&b=2&z=2"),
        ("https://h.test/f?${S}&z=2", {"S": "b=2#c"}, "https://h.test/f?b=2%23c&z=2"),
        ("https://h.test/f?${S}x", {"S": "b=2&c"}, "https://h.test/f?b%3D2%26cx"),
        # A value that begins the URL is an address.
        ("${B}", {"B": "https://h.test/a?k=1#f"}, "https://h.test/a?k=1"),
        ("${B}&x=1", {"B": "https://h.test/a?k=1"}, "https://h.test/a?k=1&x=1"),
        ("${B}&x=/a?", {"B": "https://h.test/a?k=1"}, "https://h.test/a?k=1&x=/a?"),
        ("https://${B}", {"B": "h.test/a?k=1"}, "https://h.test/a?k=1"),
        ("${S}://h.test/${P}", {"S": "https", "P": "a?b"}, "https://h.test/a%3Fb"),
    ],
)
def test_a_stored_value_is_what_its_place_makes_it(
    template: str, values: dict[str, str], url: str
) -> None:
    """An address, some path, one text of the query, or some pairs."""
    assert url_of(template, values, {"q": "7"}) == url


@pytest.mark.parametrize(
    ("template", "values", "said"),
    [
        ("${B}/v1", {"B": "https://h.test?x="}, "part of its query"),
        ("${B}/v1", {"B": "https://h.test/a#"}, "cut off"),
        ("${B}?q={q}", {"B": "https://h.test/a?b=1"}, "part of its query"),
        ("${B}&q={q}", {"B": "https://h.test/a?b=1#c"}, "never sent|cut off"),
        ("${B}&x=1", {"B": "https://h.test/a?b=1#c"}, "cut off"),
        ("${B}x", {"B": "https://h.test/a?b=1"}, "would not be part of the host"),
        ("${B}.h.test", {"B": "https://evil.test/"}, "would not be part of the host"),
        ("${B}{q}", {"B": "https://h.test/a?k="}, "would not be part of the host"),
        ("https://${H}/v1?k=1", {"H": "h.test/?"}, "part of its query"),
        ("https://h.test${P}/v1", {"P": "/a?b="}, "part of its query"),
        ("https://h.test:${P}/v1", {"P": "443/#"}, "cut off"),
        ("https://h.test/${P}/b", {"P": ".."}, "'..'"),
        ("https://h.test/a/${P}", {"P": "b/../../c"}, "'..'"),
        ("https://h.test/.${P}/b", {"P": "."}, "'..'"),
        ("https://h.test/?k=${K}", {"K": "a\nb"}, "control character"),
        ("https://u:${K}@h.test/", {"K": "pw"}, "user name or password"),
        ("https://${U}h.test/", {"U": "good.test@"}, "user name or password"),
    ],
)
def test_a_stored_value_that_would_move_the_rest_is_refused(
    template: str, values: dict[str, str], said: str
) -> None:
    """With the place, and without the value."""
    with pytest.raises(InvalidOptions, match=said) as caught:
        url_of(template, values, {"q": "7"})
    assert caught.value.where == "options.url"
    assert "h.test" not in str(caught.value)


async def test_on_the_wire_and_in_a_preview_it_is_one_parameter(bench: Bench) -> None:
    """The server sees the author's parameters, and the preview hides the value."""
    source = await bench.api(
        {"name": "x", "url": bench.url("/s?k=${K}&n=1"), "params": {"q": {"required": True}}},
        {"K": "a&admin=1#c"},
    )
    request = await bench.sent(source, {"q": "x"})
    assert request.target == "/s?k=a%26admin%3D1%23c&n=1&q=x"
    shown = (await source.preview("x", {"q": "x"})).request["url"]
    assert shown == bench.url("/s?k=***&n=1&q=x")


@pytest.mark.parametrize("text", ['x","admin":true,"y":"', "a&b=1", '"}]', "\\", "\\u0022"])
async def test_json_in_a_query_keeps_its_members(bench: Bench, text: str) -> None:
    """A filter that is JSON is filled as JSON, then encoded for the query."""
    source = await bench.api(
        {"name": "x", "url": bench.url('/s?filter={"name":"{name}","n":[{n}]}&plain=<{name}>')}
    )
    target = (await bench.sent(source, {"name": text, "n": "1], 2"})).target
    pairs = dict(parse_qsl(urlsplit(target).query))
    assert pairs["plain"] == f"<{text}>"
    assert json.loads(pairs["filter"]) == {"name": text, "n": ["1], 2"]}


def test_addresses_of_servers_keep_their_parts_too() -> None:
    """The address of an MCP server is filled by the same rules."""
    capability = of_capability(
        {"server_label": "x", "server_url": "https://h.test/${P}/mcp?key=${K}&v=1"},
        {"P": "a?b", "K": "k&admin=1#c"},
    )
    assert capability.url == "https://h.test/a%3Fb/mcp?key=k%26admin%3D1%23c&v=1"
    config = {"endpoint": "{{B}}/mcp?key={{K}}", "tool_name": "t"}
    package = of_package("mcp_server", config, {"B": "https://h.test/base", "K": "a&b"})
    assert isinstance(package, HttpServer)
    assert package.url == "https://h.test/base/mcp?key=a%26b"
    for bad in (
        "https://h.test/?x=",
        "https://u:p@h.test",
        "https://h.test\\@evil.test",
        "ftp://h",
    ):
        with pytest.raises(InvalidOptions):
            of_package("mcp_server", config, {"B": bad, "K": "a"})
