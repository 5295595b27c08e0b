"""Versions of rows: what a change or a delete was meant for, and what it met."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from tests.support.tenants import Tenants

OLD = {"If-Match": '"1"'}
PACKAGE: dict[str, Any] = {
    "slug": "find_it",
    "name": "Find it",
    "type": "http",
    "config": {"url": "https://api.example.com/x"},
}


async def agent(tenants: Tenants) -> str:
    """An agent at version 2."""
    made = await tenants.agent(tenants.root, None)
    path = f"/api/v1/agents/{made.id}"
    assert (await tenants.root.api.patch(path, json={"model": "x:y"})).status_code == 200
    return path


async def capability(tenants: Tenants) -> str:
    """A capability at version 2."""
    body = {"name": "One", "code": "one", "type": "internal", "access_type": "user"}
    made = await tenants.root.api.post("/api/super-admin/capabilities", json=body)
    path = f"/api/super-admin/capabilities/{made.json()['id']}"
    assert (await tenants.root.api.patch(path, json={"ordering": 3})).status_code == 200
    return path


async def package(tenants: Tenants) -> str:
    """A package at version 2."""
    api = tenants.root.api
    assert (await api.post("/admin/tools/install", json=PACKAGE)).headers["etag"] == '"1"'
    assert (await api.post("/admin/tools/find_it/disable")).headers["etag"] == '"2"'
    return "/admin/tools/find_it"


def refused(answer: httpx.Response, current: Any) -> bool:
    problem = answer.json()
    return (answer.status_code, problem["code"], problem["current"]) == (409, "conflict", current)


@pytest.mark.parametrize("make", [agent, capability, package])
async def test_a_delete_that_was_meant_for_another_version(tenants: Tenants, make: Any) -> None:
    """Nothing goes, and the answer holds the row as a GET shows it."""
    path, api = await make(tenants), tenants.root.api
    present = await api.get(path)
    assert present.headers["etag"] == '"2"'

    late = await api.delete(path, headers=OLD)
    after = await api.get(path)
    right = await api.delete(path, headers={"If-Match": present.headers["etag"]})

    assert refused(late, present.json())
    assert (after.json(), right.status_code) == (present.json(), 204)


async def test_a_package_is_replaced_in_one_version_only(tenants: Tenants) -> None:
    """The second of two who read the same one is told."""
    path, api = await package(tenants), tenants.root.api
    present = (await api.get(path)).json()

    late = await api.put(path, json=PACKAGE, headers=OLD)
    right = await api.put(path, json=PACKAGE, headers={"If-Match": '"2"'})

    assert refused(late, present)
    assert (right.status_code, right.headers["etag"]) == (200, '"3"')


async def test_an_install_over_a_package_shows_it(tenants: Tenants) -> None:
    """409, with what is there."""
    path, api = await package(tenants), tenants.root.api

    again = await api.post("/admin/tools/install", json=PACKAGE)

    assert refused(again, (await api.get(path)).json())


async def test_a_restore_that_was_meant_for_another_version(tenants: Tenants) -> None:
    """It stays archived."""
    path, api = await capability(tenants), tenants.root.api
    await api.delete(path)

    late = await api.post(f"{path}/restore", headers={"If-Match": '"2"'})
    right = await api.post(f"{path}/restore", headers={"If-Match": '"3"'})

    assert (late.status_code, late.json()["current"]["archived"]) == (409, True)
    assert (right.status_code, right.json()["archived"]) == (200, False)


async def test_another_package_of_a_deleted_slug_is_granted_to_nobody(tenants: Tenants) -> None:
    """An agent held the first one; the second is another tool that somebody else may have made."""
    api, root = tenants.root.api, tenants.root
    await api.post("/admin/tools/install", json=PACKAGE)
    made = await tenants.agent(root, None)
    tools = f"/api/v1/agents/{made.id}/tools"
    given = {"capabilities": ["installed__find_it"]}
    await api.put(f"/api/v1/agents/{made.id}/capabilities", json=given)
    row = {"name": "x", "code": "installed__find_it", "type": "internal", "access_type": "user"}
    await api.post("/api/super-admin/capabilities", json=row)
    before = [tool["name"] for tool in (await api.get(tools)).json()["tools"]]

    await api.put("/admin/tools/find_it", json=PACKAGE)
    replaced = [tool["name"] for tool in (await api.get(tools)).json()["tools"]]
    await api.delete("/admin/tools/find_it")
    await api.post("/admin/tools/install", json=PACKAGE)

    after = (await api.get(tools)).json()
    assert (before, replaced, after["tools"], after["skipped"]) == (
        ["find_it"],
        ["find_it"],
        [],
        [],
    )
    live = (await api.get("/api/super-admin/capabilities?code=installed__find_it")).json()
    assert live["items"] == []
