"""This module sends unset, null, empty, zero and false values through both front doors."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.sources.http.conftest import Bench

PARAMS: dict[str, Any] = {
    "q": {"type": "string", "required": False},
    "page": {"type": "integer", "required": False},
    "on": {"type": "boolean", "required": False},
    "size": {"type": "integer", "required": False, "default": 20},
}


@pytest.mark.parametrize(
    ("arguments", "query"),
    [
        ({}, "size=20"),
        ({"q": None, "page": 0, "on": False}, "page=0&on=false&size=20"),
        ({"q": ""}, "size=20"),
        ({"size": None}, ""),
        ({"q": " ", "size": 5}, "q=%20&size=5"),
    ],
)
async def test_an_api_query_drops_what_is_empty_and_keeps_zero_and_false(
    bench: Bench, arguments: dict[str, Any], query: str
) -> None:
    """Null and "" are left out, 0 and false are sent, defaults stand in for what is not given."""
    source = await bench.api({"name": "list_it", "url": bench.url("/list"), "params": PARAMS})
    assert (await bench.sent(source, arguments)).query == query


@pytest.mark.parametrize(
    ("arguments", "body"),
    [
        ({}, {"size": 20}),
        ({"q": None, "page": 0, "on": False}, {"page": 0, "on": False, "size": 20}),
        ({"q": "", "size": None}, {}),
    ],
)
async def test_an_api_body_does_the_same(
    bench: Bench, arguments: dict[str, Any], body: dict[str, Any]
) -> None:
    """A flat body keeps types and leaves out what is empty; an empty object is still a body."""
    source = await bench.api(
        {"name": "x", "method": "POST", "url": bench.url("/list"), "body": PARAMS}
    )
    request = await bench.sent(source, arguments)
    assert json.loads(request.body) == body


async def test_an_api_form_follows_its_content_type(bench: Bench) -> None:
    """A flat body whose author says that it is a form is one."""
    source = await bench.api(
        {
            "name": "x",
            "method": "POST",
            "url": bench.url("/list"),
            "body": PARAMS,
            "headers": {"Content-Type": "application/x-www-form-urlencoded"},
        }
    )
    request = await bench.sent(source, {"q": "a b&c", "on": False, "page": None})
    assert request.body == b"q=a%20b%26c&on=false&size=20"


def package(method: str) -> dict[str, Any]:
    """A package with optional arguments of every kind."""
    return {
        "slug": "listing",
        "name": "Listing",
        "type": "http",
        "config": {
            "url": "{{BASE}}/list",
            "method": method,
            "headers": {"Content-Type": "application/json"},
        },
        "input_schema": {
            "type": "object",
            "properties": {
                "q": {"type": "string"},
                "note": {"type": ["string", "null"]},
                "page": {"type": "integer"},
                "on": {"type": "boolean"},
            },
        },
    }


async def test_a_package_sends_an_empty_text(bench: Bench) -> None:
    """Packages drop only what is absent or null: "" is a value of its own."""
    bench.secrets["BASE"] = bench.url("")
    source = await bench.package(package("GET"))
    request = await bench.sent(source, {"q": "", "note": None, "page": 0, "on": False})
    assert request.query == "q=&page=0&on=false"


async def test_a_package_body_carries_a_null_that_its_schema_admits(bench: Bench) -> None:
    """Where the schema admits null, null in JSON is said and not left out."""
    bench.secrets["BASE"] = bench.url("")
    source = await bench.package(package("POST"))
    request = await bench.sent(source, {"note": None, "page": 0})
    assert json.loads(request.body) == {"note": None, "page": 0}
    refused = await bench.call(source, {"q": None})
    assert refused.error is not None
    assert refused.error.code == "invalid_arguments"


async def test_a_request_without_fields_has_no_body(bench: Bench) -> None:
    """A POST that declares no body sends none, and says so with its length."""
    source = await bench.api({"name": "x", "method": "POST", "url": bench.url("/ping")})
    request = await bench.sent(source, {})
    assert (request.body, request.header("Content-Type")) == (b"", None)
    assert request.header("Content-Length") == "0"


async def test_a_get_may_have_a_body_and_a_post_a_query(bench: Bench) -> None:
    """params go to the query and body to the body, whatever the method."""
    source = await bench.api(
        {
            "name": "x",
            "method": "GET",
            "url": bench.url("/search"),
            "params": {"k": {"type": "integer"}},
            "body": {"q": {"type": "string"}},
        }
    )
    request = await bench.sent(source, {"k": 1, "q": "x"})
    assert (request.target, request.body) == ("/search?k=1", b'{"q":"x"}')
