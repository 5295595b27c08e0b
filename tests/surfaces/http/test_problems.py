"""Errors: one table, one form, and nothing in them that the caller should not read."""

from __future__ import annotations

import inspect
import json

import pytest

from tests.support.crib import Crib, problem_of
from tests.support.tenants import Tenants
from toolcrib import errors
from toolcrib.errors import Conflict, EgressBlocked, NotFound, SetupError, ToolcribError
from toolcrib.surfaces.http.problems import STATUS, of_error


def error_classes() -> list[type[ToolcribError]]:
    return [
        kind
        for _, kind in inspect.getmembers(errors, inspect.isclass)
        if issubclass(kind, ToolcribError)
    ]


def test_every_error_has_its_status() -> None:
    """A new class cannot be forgotten, and no number is made up."""
    assert set(STATUS) == set(error_classes())
    assert {status for status in STATUS.values() if not 400 <= status < 600} == set()


@pytest.mark.parametrize("kind", error_classes())
def test_every_error_becomes_a_problem(kind: type[ToolcribError]) -> None:
    """Of the form of RFC 9457, with its stable code."""
    answer = of_error(kind("It went wrong.", hint="Do this.", where="there"))

    body = json.loads(answer.body)
    assert answer.headers["content-type"] == "application/problem+json"
    assert (answer.status_code, body["status"], body["code"]) == (
        STATUS[kind],
        STATUS[kind],
        kind.code,
    )
    assert body["type"] == f"urn:toolcrib:problem:{kind.code}"


def test_an_error_of_a_plugin_answers_like_its_parent() -> None:
    """A class that is not in the table is still one of its kind."""

    class Elsewhere(NotFound):
        """Something that is elsewhere."""

    assert of_error(Elsewhere()).status_code == 404


def test_what_only_the_operator_can_mend_is_not_told() -> None:
    """The address of a database is not the caller's business; the id in the log is."""
    answer = of_error(SetupError("The database postgresql://host/name failed."))

    body = json.loads(answer.body)
    assert answer.status_code == 503
    assert "postgresql" not in str(body)
    assert "in the log under" in body["detail"]


def test_a_conflict_without_a_row_shows_none() -> None:
    """And what is no row of ours is never shown as one."""
    for current in (None, object(), "text"):
        body = json.loads(of_error(Conflict("No.", current=current)).body)
        assert "current" not in body


def test_a_blocked_address_names_the_place() -> None:
    """`where` and `hint` go out as they are."""
    body = json.loads(of_error(EgressBlocked("No.", where="options.url", hint="Ask.")).body)
    assert (body["where"], body["hint"]) == ("options.url", "Ask.")


async def test_an_unknown_exception_tells_nothing(crib: Crib) -> None:
    """500 with an id; the message of the exception stays inside."""
    root = await crib.somebody(1)

    @crib.app.get("/api/v1/explode")
    async def explode() -> None:
        raise RuntimeError("password=hunter2")

    answer = await root.api.get("/api/v1/explode")

    assert problem_of(answer) == (500, "internal", None)
    assert "hunter2" not in answer.text


async def test_the_conflicting_row_comes_as_a_get_shows_it(tenants: Tenants) -> None:
    """Whoever lost the race sees what is there now."""
    api = tenants.root.api
    agent = await tenants.agent(tenants.user_a, tenants.a)
    path = f"/api/v1/agents/{agent.id}"
    first = await api.get(path)
    assert first.headers["etag"] == '"1"'

    changed = await api.patch(path, json={"name": "one"}, headers={"If-Match": '"1"'})
    late = await api.patch(path, json={"name": "two"}, headers={"If-Match": '"1"'})

    assert changed.headers["etag"] == '"2"'
    assert problem_of(late) == (409, "conflict", None)
    assert late.json()["current"] == (await api.get(path)).json()


async def test_unknown_paths_and_methods_are_problems(crib: Crib) -> None:
    """HTTP's own refusals have the same form."""
    api = (await crib.somebody(1)).api

    assert problem_of(await api.get("/nowhere")) == (404, "not_found", None)
    wrong = await api.request("DELETE", "/api/v1/me")
    assert problem_of(wrong) == (405, "method_not_allowed", None)
    assert wrong.headers["allow"] == "GET"
    assert problem_of(await api.get("/api/v1/me/"))[0] == 404


async def test_bad_fields_are_named_and_not_repeated(crib: Crib) -> None:
    """The place of each, and never the value: it may be a password."""
    api = (await crib.somebody(1)).api
    answer = await api.post(
        "/api/v1/users",
        json={"name": "x", "role": "king", "group_ids": ["seven"], "password": 5511, "more": 1},
    )

    assert problem_of(answer) == (422, "invalid_request", "role")
    for place in ("role:", "group_ids.0:", "password:", "more: There is no such field"):
        assert place in answer.json()["detail"]
    for value in ("king", "seven", "5511"):
        assert value not in answer.text


@pytest.mark.parametrize("number", ["0", "-1", "x", str(2**63), "1.5"])
async def test_a_bad_id_in_the_path_is_a_bad_request(crib: Crib, number: str) -> None:
    """No database sees it."""
    api = (await crib.somebody(1)).api
    assert problem_of(await api.get(f"/api/v1/groups/{number}"))[::2] == (422, "group_id")


@pytest.mark.parametrize("header", ["", "abc", '"x"', '"1", "2"', "-1"])
async def test_a_bad_version_is_a_bad_request(tenants: Tenants, header: str) -> None:
    """`*` and no header at all mean any version."""
    agent = await tenants.agent(tenants.user_a, tenants.a)
    path = f"/api/v1/agents/{agent.id}"
    api = tenants.user_a.api

    bad = await api.patch(path, json={"extra": {}}, headers={"If-Match": header})
    assert problem_of(bad) == (422, "invalid_request", "If-Match")
    for good in ("*", '"2"', "3", 'W/"4"'):
        fine = await api.patch(path, json={"extra": {}}, headers={"If-Match": good})
        assert fine.status_code == 200
