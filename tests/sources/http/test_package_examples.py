"""This module installs the knowledge-search package and packages like it, and reads the wire."""

from __future__ import annotations

import json
from typing import Any

from tests.sources.http.conftest import Bench, headers_of
from toolcrib.testing.replies import answer, json_answer, raw

KNOWLEDGE_SEARCH = """{
  "slug": "knowledge_search",
  "name": "Knowledge Search",
  "description": "Read-only search of the approved knowledge base. Returns matching passages.",
  "version": "1.0.0",
  "type": "http",
  "category": "search",
  "config": {
    "url": "{{KB_SEARCH_URL}}",
    "method": "GET",
    "headers": { "X-API-Key": "{{KB_API_KEY}}", "Accept": "application/json" },
    "timeout": 20
  },
  "input_schema": {
    "type": "object",
    "properties": {
      "query": { "type": "string", "description": "What to look up in the knowledge base" }
    },
    "required": ["query"]
  }
}"""


def note_package(**config: Any) -> dict[str, Any]:
    """A package that writes, with this config."""
    return {
        "slug": "note_save",
        "name": "Note save",
        "type": "http",
        "config": {"url": "{{NOTES_URL}}/notes", "method": "POST", **config},
        "input_schema": {
            "type": "object",
            "properties": {
                "id": {"type": "string"},
                "title": {"type": "string"},
                "tags": {"type": "array", "items": {"type": "string"}},
                "due": {"type": ["string", "null"]},
            },
        },
    }


async def test_the_knowledge_search_package_sends_exactly_this(bench: Bench) -> None:
    """URL and key come from the vault at the call; the argument is a query parameter."""
    bench.upstream.reply("/search", json_answer({"results": ["a"]}))
    bench.secrets |= {"KB_SEARCH_URL": bench.url("/search"), "KB_API_KEY": "kb-secret-1"}
    source = await bench.package(json.loads(KNOWLEDGE_SEARCH))
    request = await bench.sent(source, {"query": "what is a tool crib?"})
    assert (request.method, request.target) == (
        "GET",
        "/search?query=what%20is%20a%20tool%20crib%3F",
    )
    assert headers_of(request) == {"X-API-Key": "kb-secret-1", "Accept": "application/json"}
    assert request.body == b""


async def test_the_result_is_status_and_body(bench: Bench) -> None:
    """JSON bodies are JSON in the result, and the tool's name is the slug."""
    bench.upstream.reply("/search", json_answer({"results": ["a"]}))
    bench.secrets |= {"KB_SEARCH_URL": bench.url("/search"), "KB_API_KEY": "kb-secret-1"}
    source = await bench.package(json.loads(KNOWLEDGE_SEARCH))
    output = await bench.call(source, {"query": "x"})
    assert output.text == '{"status":200,"body":{"results":["a"]}}'
    assert output.structured == {"status": 200, "body": {"results": ["a"]}}
    assert source.tool.spec.name == "knowledge_search"
    assert source.tool.code == "installed__knowledge_search"


async def test_query_of_the_secret_and_arguments_come_together(bench: Bench) -> None:
    """A stored base address may bring a query of its own."""
    bench.secrets |= {"KB_SEARCH_URL": bench.url("/search?tenant=7"), "KB_API_KEY": "kb-secret-1"}
    source = await bench.package(json.loads(KNOWLEDGE_SEARCH))
    request = await bench.sent(source, {"query": "x"})
    assert request.target == "/search?tenant=7&query=x"


async def test_a_post_sends_the_declared_arguments_and_the_static_body_wins(bench: Bench) -> None:
    """What the operator fixed cannot be overruled by the model."""
    bench.secrets["NOTES_URL"] = bench.url("")
    package = note_package(static_body={"title": "fixed", "app": "t"})
    source = await bench.package(package)
    request = await bench.sent(source, {"id": "7", "title": "mine", "tags": ["a"], "due": None})
    assert json.loads(request.body) == {
        "id": "7",
        "title": "fixed",
        "tags": ["a"],
        "due": None,
        "app": "t",
    }
    assert request.header("Content-Type") == "application/json"


async def test_consumed_arguments_are_not_sent_twice(bench: Bench) -> None:
    """An argument of the path or the query is not in the body again."""
    bench.secrets["NOTES_URL"] = bench.url("")
    package = note_package(url="{{NOTES_URL}}/notes/{id}?title={title}")
    source = await bench.package(package)
    request = await bench.sent(source, {"id": "a b", "title": "x&y", "tags": ["a"]})
    assert request.target == "/notes/a%20b?title=x%26y"
    assert json.loads(request.body) == {"tags": ["a"]}


async def test_a_query_slot_without_its_argument_is_left_out(bench: Bench) -> None:
    """The pair goes with its argument, text around the slot included."""
    bench.secrets["NOTES_URL"] = bench.url("")
    package = note_package(method="GET", url="{{NOTES_URL}}/notes?t={title}&d=on:{due}&k=1")
    source = await bench.package(package)
    assert (await bench.sent(source, {})).target == "/notes?k=1"
    assert (await bench.sent(source, {"due": "mon"})).target == "/notes?d=on:mon&k=1"


async def test_one_text_field_is_sent_as_that_text(bench: Bench) -> None:
    """The published rule: a body of one text is raw, unless the header says JSON."""
    bench.secrets["NOTES_URL"] = bench.url("")
    package = note_package()
    package["input_schema"]["properties"] = {"title": {"type": "string"}}
    request = await bench.sent(await bench.package(package), {"title": "naïve & plain"})
    assert request.body == "naïve & plain".encode()
    assert request.header("Content-Type") == "text/plain; charset=utf-8"

    package["config"]["headers"] = {"content-type": "application/json; charset=utf-8"}
    request = await bench.sent(await bench.package(package), {"title": "naïve & plain"})
    assert request.body == '{"title":"naïve & plain"}'.encode()
    assert headers_of(request) == {"content-type": "application/json; charset=utf-8"}


async def test_a_template_and_a_static_body_combine_when_both_are_objects(bench: Bench) -> None:
    """Slots keep their types, and the static members go on top."""
    bench.secrets["NOTES_URL"] = bench.url("")
    template = {"note": {"t": "{title}", "tags": "{tags}", "line": "Re: {title}"}, "app": "{id}"}
    source = await bench.package(note_package(body_template=template, static_body={"app": "t"}))
    request = await bench.sent(source, {"id": "1", "title": "x", "tags": ["a", "b"]})
    assert json.loads(request.body) == {
        "note": {"t": "x", "tags": ["a", "b"], "line": "Re: x"},
        "app": "t",
    }


async def test_lists_in_a_query_are_repeated(bench: Bench) -> None:
    """A GET sends leftover arguments as query parameters, a list as several."""
    bench.secrets["NOTES_URL"] = bench.url("")
    source = await bench.package(note_package(method="GET"))
    request = await bench.sent(source, {"title": "", "tags": ["a,b", "c"], "due": None})
    assert request.target == "/notes?title=&tags=a%2Cb&tags=c"


async def test_head_and_delete_are_methods_too(bench: Bench) -> None:
    """HEAD brings no body and succeeds; DELETE has a body only when fields are left."""
    bench.secrets["NOTES_URL"] = bench.url("")
    bench.upstream.reply(
        "/notes", raw(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", close=False)
    )
    package = note_package(method="HEAD")
    package["input_schema"]["properties"] = {}
    output = await bench.call(await bench.package(package), {})
    assert output.structured == {"status": 200, "body": ""}
    package = note_package(method="delete", url="{{NOTES_URL}}/notes/{id}")
    package["input_schema"]["properties"] = {"id": {"type": "integer"}}
    request = await bench.sent(await bench.package(package), {"id": 5})
    assert (request.method, request.target, request.body) == ("DELETE", "/notes/5", b"")


async def test_a_status_of_400_or_more_is_a_failed_result(bench: Bench) -> None:
    """The model sees status and body, and that it failed."""
    bench.upstream.reply("/notes", json_answer({"error": "no such note"}, 404))
    bench.secrets["NOTES_URL"] = bench.url("")
    output = await bench.call(await bench.package(note_package()), {"id": "1", "title": "x"})
    assert output.text == '{"status":404,"body":{"error":"no such note"}}'
    assert output.error is not None
    assert (output.error.code, output.error.message) == ("upstream_error", "API error: HTTP 404")


async def test_a_redirect_is_not_followed(bench: Bench) -> None:
    """A redirect is a failure that says so: the second host was never approved."""
    bench.upstream.reply("/notes", answer(302, body=b"", headers=[("Location", "/other")]))
    bench.secrets["NOTES_URL"] = bench.url("")
    output = await bench.call(await bench.package(note_package()), {"id": "1", "title": "x"})
    assert output.error is not None
    assert output.error.message == "API error: HTTP 302: redirects are not followed"
    assert [request.path for request in bench.upstream.requests] == ["/notes"]


async def test_undeclared_arguments_are_refused_before_anything_is_sent(bench: Bench) -> None:
    """Even where the package's own schema would let them in."""
    bench.secrets["NOTES_URL"] = bench.url("")
    package = note_package()
    package["input_schema"]["additionalProperties"] = True
    output = await bench.call(await bench.package(package), {"title": "x", "admin": True})
    assert output.error is not None
    assert output.error.code == "invalid_arguments"
    assert "admin" in output.error.message
    assert bench.upstream.requests == []
