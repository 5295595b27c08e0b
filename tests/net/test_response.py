"""This module checks how an answer's bytes become text."""

from __future__ import annotations

import encodings.aliases

import pytest
from hypothesis import given
from hypothesis import strategies as st
from multidict import CIMultiDict, CIMultiDictProxy

from toolcrib.net.outgoing import outgoing
from toolcrib.net.response import Response

ODD = ["idna", "punycode", "raw_unicode_escape", "rot13", "undefined", "unicode_escape"]


def response(body: bytes, kind: str | None, *, truncated: bool = False) -> Response:
    headers = CIMultiDict({"content-type": kind} if kind is not None else {})
    return Response(
        status=200,
        headers=CIMultiDictProxy(headers),
        body=body,
        truncated=truncated,
        url="https://a.test/",
    )


@pytest.mark.parametrize(
    ("body", "kind", "text"),
    [
        ("grün".encode(), "text/plain", "grün"),
        ("grün".encode(), None, "grün"),
        ("grün".encode(), "application/json", "grün"),
        (b"\xef\xbb\xbfgr\xc3\xbcn", "text/plain; charset=utf-8", "grün"),
        ("grün".encode("latin-1"), "text/plain; charset=ISO-8859-1", "grün"),
        ("grün".encode("utf-16"), 'text/plain; Charset="UTF-16"', "grün"),
        ("grün".encode("cp1252"), "text/plain;charset=windows-1252;x=y", "grün"),
        ("grün".encode("latin-1"), "text/plain; charset=utf-8", "gr\ufffdn"),
        ("grün".encode(), "text/plain; charset=nonsense", "grün"),
        ("grün".encode(), "text/plain; charset=hex", "grün"),
        ("grün".encode(), "text/plain; charset=zlib", "grün"),
        ("grün".encode(), "text/plain; charset=", "grün"),
        ("grün".encode(), "text/plain; charset=\x00", "grün"),
        (b"", "text/plain; charset=utf-16", ""),
    ],
)
def test_text_is_decoded_by_the_charset_that_is_named(
    body: bytes, kind: str | None, text: str
) -> None:
    """UTF-8 where none is named or Python does not know it; what does not decode is marked."""
    assert response(body, kind).text() == text


def test_a_cut_character_is_left_out() -> None:
    """The cap may fall inside a character; no mark is shown for that."""
    assert response("grün".encode()[:3], "text/plain", truncated=True).text() == "gr"
    assert response("grün".encode()[:3], "text/plain").text() == "gr\ufffd"


@pytest.mark.parametrize(
    ("kind", "media_type"),
    [
        ("Text/HTML; charset=utf-8", "text/html"),
        ("application/json", "application/json"),
        ("", ""),
        (None, ""),
    ],
)
def test_the_media_type_has_no_parameters(kind: str | None, media_type: str) -> None:
    """Lower case, and empty when there is none."""
    assert response(b"", kind).media_type == media_type


@given(st.binary(max_size=60), st.text(max_size=20), st.booleans())
def test_any_bytes_become_text(body: bytes, charset: str, truncated: bool) -> None:
    """No charset and no byte makes an error."""
    answer = response(body, f"text/plain; charset={charset}", truncated=truncated)
    assert isinstance(answer.text(), str)


@pytest.mark.parametrize("name", sorted({*encodings.aliases.aliases.values(), *ODD}))
def test_no_codec_of_python_makes_an_error(name: str) -> None:
    """Whatever charset an upstream names, its answer becomes text, as itself or as UTF-8."""
    body = b"xn--\xff+A-\\u12" * 3
    for truncated in (True, False):
        answer = response(body, f"text/plain; charset={name}", truncated=truncated)
        assert isinstance(answer.text(), str)
    if name in ODD:
        assert response(body, f"text/plain; charset={name}").charset == "utf-8"


def test_a_repr_shows_nothing_of_the_exchange() -> None:
    """A response or request in a log line holds no URL, header or body."""
    answer = response(b"hunter2", "text/hunter2")
    request = outgoing("POST", {"X-Key": "hunter2"}, b"hunter2", length=None, credentials=True)
    assert repr(answer) == "Response(status=200, truncated=False)"
    assert repr(request) == "Outgoing(method='POST', credentials=True)"
