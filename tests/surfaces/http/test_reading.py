"""Bodies: strict JSON within bounds, declared as JSON."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.support.crib import Crib, problem_of

JSON = {"Content-Type": "application/json"}


@pytest.mark.parametrize(
    ("body", "where"),
    [
        (b'{"name": "a", "name": "b"}', "line 1, column 15"),
        (b'{"name": NaN}', "line 1, column 10"),
        (b'{"name": "a"} x', "line 1, column 15"),
        (b'{"name": -Infinity}', "line 1, column 10"),
        (b"{", "line 1, column 2"),
        (b'{"name": 1e999}', "line 1, column 10"),
        (b'{"name": "\\ud800"}', None),
        (b"\xff", None),
    ],
)
async def test_what_is_not_strict_json_is_refused(
    crib: Crib, body: bytes, where: str | None
) -> None:
    """With the place, and nothing made of it."""
    api = (await crib.somebody(1)).api

    answer = await api.post("/api/v1/groups", content=body, headers=JSON)

    assert problem_of(answer) == (400, "invalid_json", where)
    assert (await api.get("/api/v1/groups")).json()["items"] == []


async def test_deep_nesting_is_refused(crib: Crib) -> None:
    """Before anything recurses into it."""
    api = (await crib.somebody(1)).api
    for depth, status in ((98, 201), (101, 400), (5000, 400)):
        nested = b'{"a":' * depth + b"1" + b"}" * depth
        body = b'{"name": "n%d", "extra": ' % depth + nested + b"}"
        answer = await api.post("/api/v1/agents", content=body, headers=JSON)
        assert answer.status_code == status, depth


async def test_a_body_that_is_too_large_is_refused(crib: Crib) -> None:
    """Whether its length was declared or not."""
    api = (await crib.somebody(1)).api
    large = b'{"name": "' + b"x" * (1024 * 1024) + b'"}'

    async def pieces() -> AsyncIterator[bytes]:
        yield large[:1000]
        yield large[1000:]

    for content in (large, pieces()):
        answer = await api.post("/api/v1/groups", content=content, headers=JSON)
        assert problem_of(answer) == (413, "too_large", None)


@pytest.mark.parametrize("declared", ["", "text/plain", "application/x-www-form-urlencoded"])
async def test_a_body_has_to_be_declared_as_json(crib: Crib, declared: str) -> None:
    """A form on somebody's page cannot pretend to be a client."""
    api = (await crib.somebody(1)).api
    headers = {"Content-Type": declared} if declared else {}

    answer = await api.post("/api/v1/groups", content=b'{"name": "x"}', headers=headers)

    assert problem_of(answer) == (415, "unsupported_media_type", "Content-Type")


@pytest.mark.parametrize("declared", ["application/json; charset=utf-8", "application/x+json"])
async def test_every_kind_of_json_is_json(crib: Crib, declared: str) -> None:
    """Parameters and suffixes are fine."""
    api = (await crib.somebody(1)).api
    answer = await api.post(
        "/api/v1/groups", content=b'{"name": "x"}', headers={"Content-Type": declared}
    )
    assert answer.status_code == 201


@pytest.mark.parametrize("body", [b"", b"null", b"[]", b'"text"', b"5"])
async def test_a_body_is_an_object(crib: Crib, body: bytes) -> None:
    """Anything else says what is needed."""
    api = (await crib.somebody(1)).api
    answer = await api.post("/api/v1/groups", content=body, headers=JSON)
    assert problem_of(answer)[:2] == (422, "invalid_request")
    assert answer.json()["detail"] == "The request needs a JSON object as its body."


async def test_values_are_not_read_as_another_type(crib: Crib) -> None:
    """A number is no name, a word no flag, a truth value no number."""
    api = (await crib.somebody(1)).api
    base = {"name": "x", "code": "greet"}
    for field, value in (("name", 5), ("is_default", "yes"), ("ordering", True), ("ordering", 1.0)):
        answer = await api.post("/api/super-admin/capabilities", json={**base, field: value})
        assert problem_of(answer)[::2] == (422, field)
