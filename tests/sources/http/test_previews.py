"""This module previews calls: the exact request, masked, with a verdict, and nothing sent."""

from __future__ import annotations

from typing import Any

import pytest

from tests.sources.http.conftest import Bench
from toolcrib.errors import InvalidArguments
from toolcrib.secrets.binding import BoundValue
from toolcrib.tools.source import Preview


async def test_an_api_preview_is_the_request_with_its_settings_masked(bench: Bench) -> None:
    """The host stays readable for the verdict; the rest of what was stored is `***`."""
    source = await bench.api(
        {
            "name": "x",
            "method": "POST",
            "url": "${BASE}/things/{id}?mode=full&k=${KEY}",
            "params": {"q": {"type": "string"}},
            "headers": {"Authorization": "Bearer ${KEY}", "X-Fixed": "1"},
            "body_template": {"key": "${KEY}", "text": "{text}"},
        },
        {"BASE": bench.url("/base/v1"), "KEY": "key-12345"},
    )
    preview = await source.preview("x", {"id": "a/b", "q": "c d", "text": "t"})
    assert preview == Preview(
        request={
            "method": "POST",
            "url": f"{bench.url('')}/***/***/things/a%2Fb?mode=full&k=***&q=c%20d",
            "headers": {
                "Authorization": "Bearer ***",
                "X-Fixed": "1",
                "Content-Type": "application/json",
            },
            "body": '{"key":"***","text":"t"}',
        },
        egress={
            "allowed": True,
            "host": "127.0.0.1",
            "addresses": ["127.0.0.1"],
            "reason": preview.egress["reason"],
        },
        missing=(),
        place_is_stored=True,
    )
    assert bench.upstream.requests == []


async def test_what_is_previewed_is_what_is_sent(bench: Bench) -> None:
    """Without stored values the preview and the recorded request are equal."""
    source = await bench.api(
        {
            "name": "x",
            "method": "PUT",
            "url": bench.url("/a/{id}"),
            "body_template": "<t>{t}</t>",
            "headers": {"Content-Type": "text/xml"},
        }
    )
    arguments = {"id": "ü", "t": "a<b"}
    preview = await source.preview("x", arguments)
    request = await bench.sent(source, arguments)
    assert preview.request == {
        "method": request.method,
        "url": bench.url("") + request.target,
        "headers": {"Content-Type": request.header("Content-Type")},
        "body": request.body.decode(),
    }


async def test_a_package_preview_names_missing_secrets(bench: Bench) -> None:
    """What is there is masked, what is missing stands as it was written, and nothing is sent."""
    bench.secrets |= {"URL": bench.url("/s"), "BLANK": " "}
    package: dict[str, Any] = {
        "slug": "kb",
        "name": "KB",
        "type": "http",
        "config": {
            "url": "{{URL}}/{id}",
            "headers": {"X-Key": "{{KEY}}", "X-Blank": "{{BLANK}}", "X-Url": "{{URL}}"},
        },
        "input_schema": {"type": "object", "properties": {"id": {"type": "string"}}},
    }
    preview = await (await bench.package(package)).preview("kb", {"id": "a b"})
    assert preview.missing == ("BLANK", "KEY")
    assert preview.request == {
        "method": "GET",
        "url": "***/a%20b",
        "headers": {"X-Key": "{{KEY}}", "X-Blank": "{{BLANK}}", "X-Url": "***"},
        "body": None,
    }
    assert preview.egress == {
        "allowed": False,
        "host": None,
        "addresses": [],
        "reason": "Nothing would be sent: BLANK, KEY has no value.",
    }
    assert bench.upstream.requests == []


async def test_a_limited_value_shows_in_the_verdict(bench: Bench) -> None:
    """A secret that may not go to the host is a refusal that names it."""
    bench.secrets["KEY"] = BoundValue("limited-key", ["api.test"])
    package = {
        "slug": "kb",
        "name": "KB",
        "type": "http",
        "config": {"url": bench.url("/s"), "headers": {"X-Key": "{{KEY}}"}},
    }
    preview = await (await bench.package(package)).preview("kb", {})
    assert preview.egress["allowed"] is False
    assert preview.egress["reason"] == "'KEY' may be sent to api.test only, not to '127.0.0.1'."


async def test_a_secret_that_gives_no_url_is_said(bench: Bench) -> None:
    """The reason is shown, the value is not."""
    bench.secrets["URL"] = "no address at all"
    package = {"slug": "kb", "name": "KB", "type": "http", "config": {"url": "{{URL}}"}}
    preview = await (await bench.package(package)).preview("kb", {})
    assert preview.request["url"] == "***"
    assert "does not start with https://" in preview.egress["reason"]
    assert "no address" not in repr(preview)


async def test_an_upload_is_shown_in_words(bench: Bench) -> None:
    """A preview fetches no document."""

    class Reader:
        async def fetch(self, document_id: int, call: object) -> tuple[str, str, bytes]:
            raise AssertionError(document_id)

    options = {
        "name": "x",
        "method": "POST",
        "url": bench.url("/up"),
        "files": {"file": {"required": True}},
        "body": {"caption": {"type": "string"}},
    }
    source = await bench.api(options, documents=Reader())
    preview = await source.preview("x", {"file": 3, "caption": "hi"})
    assert preview.request["headers"] == {"Content-Type": "multipart/form-data"}
    assert preview.request["body"] == {"fields": {"caption": "hi"}, "documents": {"file": 3}}


async def test_a_blocked_address_is_a_verdict(bench: Bench) -> None:
    """The preview of a request that would be refused says why."""
    source = await bench.api({"name": "x", "url": "https://10.1.2.3/x"})
    preview = await source.preview("x", {})
    assert preview.egress["allowed"] is False
    assert preview.egress["host"] == "10.1.2.3"
    assert "private" in preview.egress["reason"]


async def test_arguments_that_make_no_request_are_an_error(bench: Bench) -> None:
    """There is no exact request to show."""
    source = await bench.api({"name": "x", "url": bench.url("/{id}")})
    with pytest.raises(InvalidArguments, match="missing required path parameter 'id'"):
        await source.preview("x", {})


async def test_a_body_in_another_charset_is_shown_as_text(bench: Bench) -> None:
    """What no request could carry is an error of the arguments."""
    options = {
        "name": "x",
        "method": "POST",
        "url": bench.url("/"),
        "headers": {"Content-Type": "text/plain; charset=iso-8859-1"},
        "body_template": "text={text}",
    }
    source = await bench.api(options)
    assert (await source.preview("x", {"text": "é"})).request["body"] == "text=é"
    assert (await bench.sent(source, {"text": "é"})).body == b"text=\xe9"
    for text in ("日", "\ud800"):
        with pytest.raises(InvalidArguments, match="cannot be sent"):
            await source.preview("x", {"text": text})
