"""Hosted MCP: the canonical form of a server, and what each vendor gets of it."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.dialects.hosted_mcp import (
    AnthropicForm,
    Refusal,
    anthropic_form,
    canonical,
    refused_by_openai,
    settings_needed,
)
from toolcrib.errors import EgressBlocked, InvalidOptions, UnresolvedPlaceholderError
from toolcrib.secrets.binding import BoundValue

stored = st.text(
    st.characters(exclude_categories=["Cs", "Cc"]) | st.sampled_from("&=#?/%+;@:\\ .{}$"),
    min_size=1,
    max_size=30,
).filter(lambda text: bool(text.strip()))
WIKI: dict[str, Any] = {
    "type": "mcp",
    "server_label": "wiki",
    "server_url": "https://wiki.test/mcp",
    "require_approval": "never",
}


def form(**changes: Any) -> AnthropicForm:
    made = anthropic_form({**WIKI, **changes})
    assert isinstance(made, AnthropicForm)
    return made


def refusal(**changes: Any) -> Refusal:
    made = anthropic_form({k: v for k, v in {**WIKI, **changes}.items() if v is not ...})
    assert isinstance(made, Refusal)
    return made


def test_canonical_form():
    """Placeholders are filled everywhere, three fields lose stray blanks, dotted keys nest."""
    options = {
        "server_label": " ${LABEL} ",
        "server_url": "  https://${HOST}/mcp\n",
        "require_approval": "never ",
        "headers.Authorization": "Bearer ${TOKEN}",
        "tool_filter": {"names": ["${FIRST}", "two"]},
    }
    values = {"LABEL": "wiki", "HOST": "wiki.test", "TOKEN": "t0ken", "FIRST": "one"}
    assert settings_needed(options) == set(values)
    assert canonical(options, values) == {
        "type": "mcp",
        "server_label": "wiki",
        "server_url": "https://wiki.test/mcp",
        "require_approval": "never",
        "headers": {"Authorization": "Bearer t0ken"},
        "tool_filter": {"names": ["one", "two"]},
    }


def test_type_is_always_mcp():
    """Options cannot make it anything else."""
    assert canonical({"type": "function", "server_label": "a"}, {})["type"] == "mcp"


def test_values_are_not_read_again():
    """A value that looks like a placeholder is sent as it is; in an address encoded."""
    options = {"server_label": "${A}", "server_url": "https://x/${A}"}
    filled = canonical(options, {"A": "${B}", "B": "no"})
    assert (filled["server_label"], filled["server_url"]) == ("${B}", "https://x/$%7BB%7D")


@given(stored, stored)
def test_values_stay_in_their_place_of_the_address(segment: str, pair: str):
    """None begins a query, adds a parameter or is a step up, whatever it holds."""
    options = {"server_url": "https://wiki.test/a/${SEGMENT}/mcp?k=${PAIR}&z=1"}
    try:
        url = canonical(options, {"SEGMENT": segment, "PAIR": pair})["server_url"]
    except InvalidOptions:
        assert {".", ".."} & set(segment.strip().split("/"))
        return
    parts = urlsplit(url)
    assert (parts.scheme, parts.netloc, parts.fragment) == ("https", "wiki.test", "")
    assert unquote(parts.path) == f"/a/{segment.strip()}/mcp"
    assert parse_qsl(parts.query, keep_blank_values=True) == [("k", pair.strip()), ("z", "1")]


@pytest.mark.parametrize(
    "value",
    ["evil.test/x?", "evil.test#", "user@evil.test", "evil.test/", "evil test", "evil.test\\x"],
)
def test_a_value_that_would_make_another_address_is_refused(value: str):
    """What its author wrote behind the host is not pushed out of it; the value is not told."""
    with pytest.raises(InvalidOptions) as caught:
        canonical({"server_url": "https://${TENANT}.wiki.test/mcp"}, {"TENANT": value})
    assert caught.value.where == "options.server_url"
    assert "evil" not in caught.value.message


def test_an_address_that_is_stored_whole_stays_as_it_is():
    """Host, port, path and query of it are its owner's."""
    values = {"WIKI": "https://wiki.test:8443/team/mcp?v=2"}
    assert canonical({"server_url": "${WIKI}"}, values)["server_url"] == values["WIKI"]


def test_an_address_without_values_is_the_authors():
    """Not a character of it is changed."""
    options = {"server_url": "https://Wiki.test/a b/[x]"}
    assert canonical(options, {})["server_url"] == options["server_url"]


@pytest.mark.parametrize("value", [{}, {"TOKEN": ""}, {"TOKEN": "  "}])
def test_missing_setting_is_named(value: dict[str, str]):
    """An unresolved placeholder names the setting and its place."""
    with pytest.raises(UnresolvedPlaceholderError) as caught:
        canonical({"headers": {"Authorization": "Bearer ${TOKEN}"}}, value)
    assert "'TOKEN'" in caught.value.message
    assert caught.value.where == "options.headers.Authorization"


def test_keys_that_cannot_nest():
    """A dotted key that runs into a string is an error of the author."""
    with pytest.raises(InvalidOptions):
        canonical({"allowed_tools": "one", "allowed_tools.0": "two"}, {})


def test_anthropic_form():
    """Label, URL and bearer token are worded as Anthropic wants them."""
    made = form(headers={"Authorization": "Bearer s3cret"}, tool_filter={"a": 1})
    assert made.server == {
        "type": "url",
        "name": "wiki",
        "url": "https://wiki.test/mcp",
        "authorization_token": "s3cret",
    }
    assert made.toolset == {"type": "mcp_toolset", "mcp_server_name": "wiki"}
    assert made.dropped == ()
    assert "s3cret" not in repr(made)


@pytest.mark.parametrize("approval", [..., "always", "Never", None, {"never": {"tool_names": []}}])
def test_gate_one_approval(approval: Any):
    """Only an explicit "never" attaches: Anthropic has no approval flow."""
    assert "require_approval" in refusal(require_approval=approval).reason


@pytest.mark.parametrize("field", ["server_url", "server_label"])
@pytest.mark.parametrize("value", [..., "", "  ", None, 5])
def test_gate_two_place(field: str, value: Any):
    """An entry without URL or label would fail every request."""
    assert refusal(**{field: value}).reason == f"{field} is missing"


def test_gate_two_needs_tls():
    """Anthropic connects over https alone."""
    assert "https://" in refusal(server_url="http://wiki.test/mcp").reason


@pytest.mark.parametrize(
    ("headers", "token", "dropped"),
    [
        (None, None, 0),
        ({}, None, 0),
        ({"Authorization": "Bearer abc"}, "abc", 0),
        ({"AUTHORIZATION": "bearer abc"}, "abc", 0),
        ({"authorization": " abc "}, "abc", 0),
        ({"Authorization": "Basic dXNlcg=="}, None, 1),
        ({"Authorization": "Bearer "}, None, 1),
        ({"X-Api-Key": "k", "Authorization": "Bearer abc"}, "abc", 1),
        ({"X-Api-Key": "k", "X-Other": "v"}, None, 2),
        ("Bearer abc", None, 1),
    ],
)
def test_gate_three_bearer(headers: Any, token: str | None, dropped: int):
    """One bearer token goes along; whatever else is dropped and named, and the server stays."""
    made = form(headers=headers)
    assert made.server.get("authorization_token") == token
    assert len(made.dropped) == dropped


def test_dropped_headers_are_named_without_their_values():
    """The name helps, the value must not leave."""
    made = form(headers={"X-Api-Key": "s3cret", "Authorization": "Basic s3cret"})
    assert [note.split(" ")[0] for note in made.dropped] == ["X-Api-Key", "Authorization"]
    assert "s3cret" not in repr(made)


@pytest.mark.parametrize(
    ("allowed", "names"),
    [
        (["a", "b"], ["a", "b"]),
        (("a",), ["a"]),
        ("a", ["a"]),
        ({"1": "b", "0": "a", "10": "c"}, ["a", "b", "c"]),
        ([], []),
    ],
)
def test_gate_four_allow_list(allowed: Any, names: list[str]):
    """Everything is off but what is named; an empty list turns on nothing."""
    toolset = form(allowed_tools=allowed).toolset
    assert toolset["default_config"] == {"enabled": False}
    assert toolset["configs"] == {name: {"enabled": True} for name in names}
    assert list(toolset["configs"]) == names


@pytest.mark.parametrize(
    "allowed", [None, "", 7, True, {}, {"a": "b"}, [1], ["a", ""], {"0": 1}, {"read_only": True}]
)
def test_gate_four_never_widens(allowed: Any):
    """What cannot be read as names skips the server instead of allowing everything."""
    assert "allowed_tools" in refusal(allowed_tools=allowed).reason


def test_without_allow_list_everything_is_on():
    """The toolset then says nothing about single tools."""
    assert form().toolset == {"type": "mcp_toolset", "mcp_server_name": "wiki"}


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        (WIKI, None),
        ({"type": "mcp", "server_label": "box", "connector_id": "connector_box"}, None),
        ({**WIKI, "server_label": ""}, "server_label is missing"),
        ({"type": "mcp", "server_label": "wiki"}, "server_url is missing"),
    ],
)
def test_openai(entry: dict[str, Any], reason: str | None):
    """OpenAI takes the canonical form, unless it would refuse every request because of it."""
    refused = refused_by_openai(entry)
    assert (refused and refused.reason) == reason


def test_settings_for_certain_hosts_stay_here():
    """A value that may go to one host is not handed to a vendor; the value is not shown."""
    values = {"TOKEN": BoundValue("s3cret", ["wiki.test"])}
    with pytest.raises(EgressBlocked, match=r"'TOKEN' may go to wiki\.test only") as caught:
        canonical({"headers": {"Authorization": "Bearer ${TOKEN}"}}, values)
    assert "s3cret" not in str(caught.value)
