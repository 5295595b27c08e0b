"""This module checks that a URL is read in one way only, and sent as it was written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.errors import EgressBlocked
from toolcrib.net.urls import destination, split


@pytest.mark.parametrize(
    ("url", "origin", "rest"),
    [
        ("https://a.example", "https://a.example", "/"),
        ("https://a.example/", "https://a.example", "/"),
        ("https://a.example?x=1", "https://a.example", "/?x=1"),
        ("HTTPS://A.Example:443/B", "https://a.example", "/B"),
        ("https://a.example:8443/b?c=d#e", "https://a.example:8443", "/b?c=d"),
        ("https://a.example:/b", "https://a.example", "/b"),
        ("http://a.example:80/", "http://a.example", "/"),
        ("https://[2606:4700:0::1111]:8443/", "https://[2606:4700::1111]:8443", "/"),
        ("https://a.example/%2F%2e%2E/%7E/a|b", "https://a.example", "/%2F%2e%2E/%7E/a|b"),
        ("https://a.example/../b/./c", "https://a.example", "/../b/./c"),
        ('https://a.example/ü b?q=<"\\>', "https://a.example", "/%C3%BC%20b?q=%3C%22%5C%3E"),
        ("https://a.example/x@y:z//w", "https://a.example", "/x@y:z//w"),
    ],
)
def test_paths_go_out_as_written(url: str, origin: str, rest: str) -> None:
    """Nothing is decoded or normalised; only what no request line can hold is encoded."""
    head, path = split(url)
    assert (origin, rest) == (destination(head).origin, path)


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("ftp://a.example/", "The scheme 'ftp' is not allowed: only https is."),
        ("file:///etc/passwd", "The scheme 'file' is not allowed: only https is."),
        ("gopher://a.example/", "The scheme 'gopher' is not allowed: only https is."),
        ("javascript:alert(1)", "The URL does not start with a scheme and a host"),
        ("//a.example/", "The URL does not start with a scheme and a host"),
        ("a.example/", "The URL does not start with a scheme and a host"),
        ("", "The URL does not start with a scheme and a host"),
        (" https://a.example/", "The URL does not start with a scheme and a host"),
        ("https:/a.example/", "The URL does not start with a scheme and a host"),
        ("https:\\\\a.example/", "The URL has a backslash before its path."),
        ("https://good.example\\@evil.example/", "The URL has a backslash before its path."),
        ("https://user@a.example/", "The URL has a user name or password before its host."),
        ("https://user:pw@a.example/", "The URL has a user name or password before its host."),
        ("https://a.example:80@127.0.0.1/", "The URL has a user name or password"),
        ("https://@a.example/", "The URL has a user name or password before its host."),
        ("https:///path", "The host '' cannot be used: it is empty."),
        ("https://:443/", "The host '' cannot be used: it is empty."),
        ("https://a.example:0/", "The port 0 of 'a.example' is not a number from 1 to 65535."),
        ("https://a.example:65536/", "The port 65536 of 'a.example' is not a number"),
        ("https://a.example:-1/", "The URL's host and port cannot be read."),
        ("https://a.example:8o/", "The URL's host and port cannot be read."),
        ("https://a.example:8:8/", "The URL's host and port cannot be read."),
        ("https://::1/", "The URL's host and port cannot be read."),
        ("https://[::1]evil.example/", "The URL's host and port cannot be read."),
        ("https://a\n.example/", "The URL has control characters."),
        ("https://a.example/\r\nHost: b", "The URL has control characters."),
        ("https://a.example/\x00", "The URL has control characters."),
        ("https://a.example/\ud800", "The URL has characters that cannot be encoded."),
        (f"https://{'a' * 300}/", "The host"),
        (f"https://a.example/{'a' * 70_000}", "The URL is longer than 65536 characters."),
    ],
)
def test_what_is_read_differently_elsewhere_is_refused(url: str, words: str) -> None:
    """Other schemes, userinfo, backslashes, control characters, odd ports: nothing is guessed."""
    with pytest.raises(EgressBlocked) as raised:
        destination(split(url)[0])
    assert raised.value.message.startswith(words)
    assert False is raised.value.sent


@given(st.text(max_size=60))
def test_the_rest_of_a_url_never_leaves_its_line(rest: str) -> None:
    """Whatever follows the host: one request target of visible ASCII, or a refusal."""
    try:
        head, path = split(f"https://a.example/{rest}")
    except EgressBlocked:
        return
    assert head == "https://a.example"
    assert path.startswith("/")
    assert all("!" <= character <= "~" for character in path)


@given(st.text(max_size=60))
def test_what_is_sent_is_what_was_split(text: str) -> None:
    """The URL that goes out has the judged authority and nothing of a user in it."""
    try:
        head, path = split(f"https://{text}")
        place = destination(head)
    except EgressBlocked:
        return
    sent = place.url(path)
    assert place.host == sent.raw_host
    assert place.port == sent.port
    assert None is sent.raw_user
    assert path.partition("?")[0] == sent.raw_path
