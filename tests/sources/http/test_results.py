"""This module answers calls in every way an upstream may, and reads the results."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from tests.sources.http.conftest import Bench, a_call
from tests.support.ports import quiet_port
from toolcrib.errors import NotFound
from toolcrib.net.client import GuardedClient
from toolcrib.net.guard import EgressPolicy
from toolcrib.sources.http.api import ApiKind
from toolcrib.sources.http.results import READ_LIMIT, TEXT_LIMIT
from toolcrib.sources.http.source import HttpSource
from toolcrib.testing.replies import (
    answer,
    close_early,
    drip,
    drop,
    flood,
    gzip_bomb,
    hang,
    in_turn,
    json_answer,
    redirect,
)
from toolcrib.testing.upstream import Reply
from toolcrib.tools.result import BlobPart, Output, TextPart

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256))


async def answered(bench: Bench, reply: Reply, *, method: str = "GET") -> Output:
    """The result of an API capability whose upstream answers like this."""
    bench.upstream.reply("/x", reply)
    source = await bench.api({"name": "x", "method": method, "url": bench.url("/x")})
    return await bench.call(source, {})


async def packaged(bench: Bench, reply: Reply) -> Output:
    """The same for a package."""
    bench.upstream.reply("/x", reply)
    source = await bench.package(
        {"slug": "x", "name": "X", "type": "http", "config": {"url": bench.url("/x")}}
    )
    return await bench.call(source, {})


def typed(content_type: str, body: bytes, *more: tuple[str, str]) -> Reply:
    return answer(body=body, headers=[("Content-Type", content_type), *more])


async def test_text_is_the_result(bench: Bench) -> None:
    """The body's text, decoded by its charset, is what the model reads."""
    output = await answered(bench, typed("text/plain; charset=iso-8859-1", b"caf\xe9"))
    assert output == Output.of_text("café")


@pytest.mark.parametrize(
    ("content_type", "body", "text"),
    [
        ("text/plain; charset=utf-8", b"\xef\xbb\xbfa\xff", "a\ufffd"),
        ("text/plain; charset=nonsense", b"a\xc3\xa9", "aé"),
        ("application/xml", b"<a/>", "<a/>"),
        ("application/x-yaml", b"a: 1", "a: 1"),
        ("", b"plain", "plain"),
    ],
)
async def test_odd_text_is_readable(
    bench: Bench, content_type: str, body: bytes, text: str
) -> None:
    """A wrong or missing charset gives replacement characters, never an error."""
    headers = [("Content-Type", content_type)] if content_type else []
    assert (await answered(bench, answer(body=body, headers=headers))).text == text


async def test_json_is_text_and_structured(bench: Bench) -> None:
    """The text stays as it was sent; the structured value is exact, long integers too."""
    body = b'{"b": 1.0, "a": [12345678901234567890123, true], "t": "\xc3\xa9"}'
    output = await answered(bench, typed("application/json", body))
    assert output.text == body.decode()
    assert output.structured == {"b": 1.0, "a": [12345678901234567890123, True], "t": "é"}
    broken = await answered(bench, typed("application/json", b"{oops"))
    assert (broken.text, broken.structured, broken.success) == ("{oops", None, True)
    vendor = await answered(bench, typed("application/hal+json; charset=utf-8", b"[1]"))
    assert vendor.structured == [1]


@pytest.mark.parametrize("status", [200, 201, 204])
async def test_an_empty_answer_is_a_success(bench: Bench, status: int) -> None:
    """Nothing to say is not a failure, whatever type the nothing has."""
    reply = answer(status, body=b"", headers=[("Content-Type", "application/json")])
    output = await answered(bench, reply, method="POST")
    assert (output.success, output.text, output.structured) == (True, "", None)


@pytest.mark.parametrize(
    ("content_type", "kind"),
    [("image/png", "image"), ("audio/mpeg", "audio"), ("application/pdf", "file")],
)
async def test_pictures_sounds_and_files_are_exact_bytes(
    bench: Bench, content_type: str, kind: str
) -> None:
    """Whatever the bytes are, they come back as they were sent, with type and name."""
    reply = typed(content_type, PNG, ("Content-Disposition", 'attachment; filename="a b.bin"'))
    output = await answered(bench, reply)
    assert output.parts == (
        BlobPart(kind=kind, data=PNG, mime_type=content_type, name="a b.bin"),  # type: ignore[arg-type]
    )
    both = await packaged(bench, reply)
    assert both.parts[0] == TextPart('{"status":200,"body":null}')
    assert both.parts[1] == output.parts[0]


async def test_bytes_without_a_type_are_a_file(bench: Bench) -> None:
    """What is no text is not forced into one."""
    output = await answered(bench, answer(body=PNG, headers=[]))
    assert output.parts == (BlobPart(kind="file", data=PNG, mime_type="application/octet-stream"),)


@pytest.mark.parametrize("status", [301, 304, 400, 401, 404, 429, 500, 503])
async def test_a_status_outside_200_is_the_published_sentence(bench: Bench, status: int) -> None:
    """`API error: HTTP n`, a failure, without the upstream's own page."""
    output = await answered(bench, answer(status, body=b""))
    assert output == Output.failed("upstream_error", f"API error: HTTP {status}")


async def test_a_redirect_is_not_followed(bench: Bench) -> None:
    """A 3xx is an answer like any other failure, even to the same host."""
    output = await answered(bench, redirect("/y"))
    assert output.text == "API error: HTTP 302"
    assert [request.path for request in bench.upstream.requests] == ["/x"]


async def test_a_long_text_is_cut_and_says_so(bench: Bench) -> None:
    """At most 1 MiB of text, cut at a whole character, with a marker and no structured half."""
    body = b'["' + "é".encode() * TEXT_LIMIT + b'"]'
    output = await answered(bench, typed("application/json", body))
    head, _, marker = output.text.rpartition("\n")
    assert head == body[:TEXT_LIMIT].decode(errors="ignore")
    assert marker == f"[cut: the answer is longer than {TEXT_LIMIT} bytes]"
    assert (output.truncated, output.structured, output.success) == (True, None, True)
    whole = await packaged(bench, typed("application/json", body))
    assert whole.truncated is True
    assert whole.structured == {"status": 200, "body": output.text}


async def test_half_a_picture_is_a_failure(bench: Bench) -> None:
    """A file over the cap is not handed on in part."""
    output = await answered(bench, typed("image/png", b"x" * (READ_LIMIT + 1)))
    assert output.error is not None
    assert output.error.code == "too_large"
    assert str(READ_LIMIT) in output.text


@pytest.mark.parametrize(
    "huge",
    [lambda size: flood(size, declared=False), gzip_bomb],
    ids=["flood", "bomb"],
)
async def test_a_huge_answer_is_cut(bench: Bench, huge: Callable[[int], Reply]) -> None:
    """100 MB, plain or packed, end as one readable, cut result."""
    output = await answered(bench, huge(100 * 1024 * 1024))
    if output.truncated:
        assert len(output.text) < TEXT_LIMIT + 100
    else:
        assert output.error is not None
        assert output.error.code == "too_large"


@pytest.mark.parametrize(
    ("reply", "deadline", "code", "words"),
    [
        (hang(), 0.4, "timeout", "did not answer"),
        (drip(b"x" * 10_000, every=0.05), 0.4, "timeout", "did not answer"),
        (drop(), 60, "upstream_error", "closed the connection without an answer"),
        (close_early(b"abc", promised=10), 60, "upstream_error", "ended early"),
    ],
    ids=["hang", "drip", "drop", "short"],
)
async def test_a_bad_upstream_is_a_readable_failure(
    bench: Bench, reply: Reply, deadline: float, code: str, words: str
) -> None:
    """Whatever it does, the call ends before its deadline with the published sentence."""
    bench.upstream.reply("/x", reply)
    source = await bench.api({"name": "x", "method": "POST", "url": bench.url("/x")})
    async with asyncio.timeout(60):
        output = await source.call("x", a_call({}, deadline=deadline))
    assert output.error is not None
    assert output.error.code == code
    assert output.text.startswith("API request failed: 127.0.0.1:")
    assert words in output.text


async def test_an_upstream_that_is_not_there_is_unreachable() -> None:
    """The sentence names the place."""
    port = quiet_port()
    async with GuardedClient(EgressPolicy([f"127.0.0.1:{port}"])) as client:
        options = {"name": "x", "url": f"http://127.0.0.1:{port}/"}
        source = await ApiKind(client).open({"name": "X", "options": options}, {})
        output = await source.call("x", a_call({}))
    assert output.error is not None
    assert output.error.code == "unreachable"
    assert output.text.startswith(f"API request failed: 127.0.0.1:{port} could not be reached")


@pytest.mark.parametrize(
    "url",
    ["http://127.0.0.1/", "https://127.0.0.1/", "https://10.0.0.1/x", "http://93.184.216.34/"],
)
async def test_a_blocked_address_is_the_published_sentence(url: str) -> None:
    """The guard's words behind `API request blocked:`."""
    async with GuardedClient(EgressPolicy()) as client:
        source = await ApiKind(client).open({"name": "X", "options": {"url": url}}, {})
        output = await source.call("x", a_call({}))
    assert output.error is not None
    assert output.error.code == "blocked"
    assert output.text.startswith("API request blocked: ")


class CountingClient(GuardedClient):
    """A client that counts how often it is asked to send."""

    tries = 0

    async def request(self, method: str, url: str, **fields: object) -> object:  # type: ignore[override]
        self.tries += 1
        return await super().request(method, url, **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(("method", "tries"), [("GET", 2), ("POST", 1)])
async def test_only_what_changes_nothing_and_was_not_sent_is_tried_again(
    method: str, tries: int
) -> None:
    """A refused connection sent nothing: a GET is tried once more, a POST never."""
    port = quiet_port()
    client = CountingClient(EgressPolicy([f"127.0.0.1:{port}"]))
    async with client:
        options = {"name": "x", "method": method, "url": f"http://127.0.0.1:{port}/"}
        source = await ApiKind(client).open({"name": "X", "options": options}, {})
        output = await source.call("x", a_call({}))
    assert output.error is not None
    assert output.error.code == "unreachable"
    assert client.tries == tries


async def test_a_request_that_may_have_arrived_is_not_repeated(bench: Bench) -> None:
    """A broken answer to a POST is reported, not repaired by a second POST."""
    bench.upstream.reply("/x", in_turn(drop(), json_answer(1)))
    source = await bench.api({"name": "x", "method": "POST", "url": bench.url("/x")})
    output = await bench.call(source, {})
    assert output.success is False
    assert len(bench.upstream.requests) == 1


async def test_other_names_are_not_found(bench: Bench) -> None:
    """A source knows its one tool only."""
    source: HttpSource = await bench.api({"name": "x", "url": bench.url("/")})
    with pytest.raises(NotFound, match="no tool 'y'"):
        await source.call("y", a_call({}))


async def test_the_deadline_is_the_shorter_of_both(bench: Bench) -> None:
    """A package's own timeout counts where it is shorter than the call's."""
    bench.upstream.reply("/x", hang())
    source = await bench.package(
        {
            "slug": "x",
            "name": "X",
            "type": "http",
            "config": {"url": bench.url("/x"), "timeout": 1},
        }
    )
    loop = asyncio.get_running_loop()
    began = loop.time()
    output = await source.call("x", a_call({}, deadline=100))
    assert output.error is not None
    assert output.error.code == "timeout"
    assert 0.9 < loop.time() - began < 60


async def test_a_value_in_the_headers_of_a_file_is_masked_before_they_are_cut(bench: Bench) -> None:
    """A file's name ends at a quote, a media type is written small: half a value would stay."""
    value = 'Zq9-Kd"Yw7-Lm'
    headers = [("Content-Disposition", f'attachment; filename="{value}.bin"')]
    bench.upstream.reply(
        "/x", answer(body=b"\0\xff", headers=[("Content-Type", f"x/{value}"), *headers])
    )
    source = await bench.api(
        {"name": "x", "url": bench.url("/x"), "headers": {"X-Key": "${KEY}"}}, {"KEY": value}
    )

    output = await bench.call(source, {})

    part = output.parts[0]
    assert isinstance(part, BlobPart)
    assert part.mime_type == "application/octet-stream"
    assert "Zq9" not in str(part.name)
