"""Queries: a parameter that the route has not is refused by name, wherever there is a route."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.crib import Crib, problem_of
from toolcrib.surfaces.http.places import is_open

OURS = frozenset({"/openapi.json", "/healthz", "/readyz"})
"""The framework's own, and what load balancers ask."""
NUMBERS = ("agent_id", "capability_id", "chat_id", "document_id", "group_id", "user_id")
TEXTS = ("call_id", "name", "ref", "slug", "token_id", "tool_name", "place")


def asked(crib: Crib) -> Iterator[tuple[str, str]]:
    """(method, path) of each route that has a query of its own words."""
    for path, methods in crib.app.openapi()["paths"].items():
        if not is_open(path) and path not in OURS:
            for method in methods:
                filled = dict.fromkeys(NUMBERS, 1) | dict.fromkeys(TEXTS, "x")
                yield method.upper(), path.format(**filled)


async def test_no_route_ignores_a_word(crib: Crib) -> None:
    """Before anything is looked for or done, every one says which word it does not know."""
    api = (await crib.somebody(1)).api
    routes = list(asked(crib))
    assert len(routes) > 50
    wrong: list[Any] = []
    for method, path in routes:
        answer = await api.request(method, path, params={"limt": "3"})
        if problem_of(answer) != (422, "invalid_request", "limt"):
            wrong.append((method, path, answer.status_code, answer.text))
    assert wrong == []


async def test_the_refusal_says_what_there_is(crib: Crib) -> None:
    """All strange words, those of an array and empty ones too; and the known ones."""
    api = (await crib.somebody(1)).api
    answer = await api.get("/api/v1/groups?limit=1&Cursor=&a[]=1&a[]=2&=")

    problem = answer.json()
    assert problem["detail"] == "There is no such query parameter here: 'Cursor', 'a[]', ''."
    assert (problem["where"], problem["hint"]) == ("Cursor", "There are: cursor, limit.")


async def test_a_call_with_a_query_is_not_run(crib: Crib) -> None:
    """The short way of calls refuses it as well."""
    api = (await crib.somebody(1)).api
    agent = (await api.post("/api/v1/agents", json={"name": "a"})).json()["id"]
    place = f"/api/v1/agents/{agent}/tools/hello/call"
    answer = await api.post(f"{place}?dry_run=true", json={"arguments": {"name": "x"}})

    assert problem_of(answer) == (422, "invalid_request", "dry_run")
    assert answer.json()["hint"] == "This route takes none."
    assert (await api.get("/api/v1/calls")).json()["items"] == []


@pytest.mark.parametrize("path", ["/healthz", "/llms.txt", "/schemas/package.json"])
async def test_open_places_take_foreign_words(crib: Crib, path: str) -> None:
    """Load balancers and browsers add their own."""
    anybody = await crib.client()
    assert (await anybody.get(path, params={"_": "17"})).status_code == 200


async def test_a_browser_that_comes_back_may_bring_more(crib: Crib) -> None:
    """An authorization server may add parameters (RFC 6749, 4.1.2): they are not looked at."""
    anybody = await crib.client()
    query = {"state": "x", "code": "y", "session_state": "z"}
    answer = await anybody.get("/oauth/callback", params=query)
    assert "session_state" not in answer.text
    assert answer.headers["content-type"].startswith("text/html")


async def test_short_lists_are_cut_when_asked(crib: Crib) -> None:
    """They come whole otherwise."""
    person = await crib.somebody(1)
    for number in range(60):
        await crib.desk.tokens.create(person.caller, user_id=1, name=f"token {number}")
    path = "/api/v1/users/1/tokens"
    everything = (await person.api.get(path)).json()
    first = (await person.api.get(path, params={"limit": 50})).json()
    rest = await person.api.get(path, params={"limit": 50, "cursor": first["next_cursor"]})

    assert (len(everything["items"]), everything["next_cursor"]) == (62, None)
    assert [*first["items"], *rest.json()["items"]] == everything["items"]
    assert rest.json()["next_cursor"] is None
