"""Who is shown where a call goes: whoever may read the definition, and its settings' owners."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Any

import pytest

from tests.support.crib import Person, open_crib
from tests.support.tenants import Tenants, make_tenants
from toolcrib.settings import Settings

HERE = "127.0.0.1"
BASE = f"http://{HERE}:9/deep/path"
PACKAGE: dict[str, Any] = {
    "slug": "find_it",
    "name": "Find it",
    "type": "http",
    "config": {
        "url": f"http://{HERE}:9/inside",
        "method": "POST",
        "headers": {"X-Inside": "yes"},
        "static_body": {"inside": True},
    },
    "input_schema": {"type": "object", "properties": {"q": {"type": "string"}}},
}


@dataclass(frozen=True, kw_only=True)
class Place:
    tenants: Tenants

    async def tool(self, url: str) -> int:
        """An agent of group A with a tool `look` at this url."""
        row = {
            "name": "Look",
            "code": "look",
            "type": "api",
            "access_type": "group",
            "group_id": self.tenants.a,
            "options": {"name": "look", "url": url, "params": {"q": {"type": "string"}}},
        }
        made = await self.tenants.admin_a.api.post("/api/super-admin/capabilities", json=row)
        assert made.status_code == 201, made.text
        return await self.agent(made.json()["id"])

    async def agent(self, *capabilities: int | str) -> int:
        body = {"name": "a", "group_id": self.tenants.a, "capabilities": list(capabilities)}
        made = await self.tenants.admin_a.api.post("/api/v1/agents", json=body)
        assert made.status_code == 201, made.text
        return made.json()["id"]

    async def put(self, owner: Person, value: str, **whose: int) -> None:
        body = {"value": value, **whose}
        stored = await owner.api.put("/api/v1/settings/BASE", json=body)
        assert stored.status_code == 204, stored.text


async def preview(person: Person, agent: int, tool: str, **headers: str) -> dict[str, Any]:
    answer = await person.api.post(
        f"/api/v1/agents/{agent}/tools/{tool}/preview",
        json={"arguments": {"q": "x"}},
        headers=headers,
    )
    assert answer.status_code == 200, answer.text
    return answer.json()


@pytest.fixture
async def place(settings: Settings) -> AsyncGenerator[Place]:
    allowed = settings.model_copy(update={"egress_allow": (f"{HERE}:9",)})
    async with open_crib(allowed) as crib:
        yield Place(tenants=await make_tenants(crib))


async def test_a_groups_address_is_shown_to_its_admins(place: Place) -> None:
    """A member reads the row, and the row does not hold the host."""
    tenants = place.tenants
    agent = await place.tool("${BASE}/x")
    await place.put(tenants.admin_a, BASE, group_id=tenants.a)

    members = await preview(tenants.user_a, agent, "look")
    assert (members["request"]["method"], members["request"]["url"]) == ("GET", "***")
    assert members["egress"] | {"reason": ""} == {
        "allowed": True,
        "host": None,
        "addresses": [],
        "reason": "",
    }
    assert [word for word in (HERE, "deep", "path") if word in str(members)] == []
    for admin in (tenants.admin_a, tenants.root):
        shown = await preview(admin, agent, "look")
        assert (shown["egress"]["host"], shown["egress"]["addresses"]) == (HERE, [HERE])
        assert shown["request"]["url"] == f"http://{HERE}:9/***/***/x?q=x"


async def test_a_refused_address_is_as_hidden(place: Place) -> None:
    """The verdict says that the call would be refused, and not why."""
    tenants = place.tenants
    agent = await place.tool("${BASE}/x")
    await place.put(tenants.admin_a, "https://10.20.30.40/deep", group_id=tenants.a)

    members = await preview(tenants.user_a, agent, "look")
    assert (members["egress"]["allowed"], "10.20" in str(members)) == (False, False)
    assert "10.20.30.40" in str(await preview(tenants.admin_a, agent, "look"))


async def test_ones_own_address_is_shown(place: Place) -> None:
    """Whoever aims the tool at a place of their own knows the place."""
    tenants = place.tenants
    agent = await place.tool("${BASE}/x")
    await place.put(tenants.admin_a, "https://10.20.30.40/deep", group_id=tenants.a)
    await place.put(tenants.user_a, BASE)

    assert (await preview(tenants.user_a, agent, "look"))["egress"]["addresses"] == [HERE]


async def test_a_host_that_stands_in_the_definition_is_shown(place: Place) -> None:
    """Members may read the row; a setting in its path stays masked."""
    tenants = place.tenants
    agent = await place.tool(f"http://{HERE}:9/${{BASE}}")
    await place.put(tenants.admin_a, "deep", group_id=tenants.a)

    shown = await preview(tenants.user_a, agent, "look")
    assert (shown["egress"]["host"], shown["egress"]["addresses"]) == (HERE, [HERE])
    assert shown["request"]["url"] == f"http://{HERE}:9/***?q=x"


@pytest.mark.parametrize("url", ["http://${BASE}/x", "http://${BASE}", "${BASE}"])
async def test_wherever_the_host_comes_from_a_setting(place: Place, url: str) -> None:
    """A whole address, a host, a part of either."""
    tenants = place.tenants
    agent = await place.tool(url)
    value = {"$": f"http://{HERE}:9", "h": f"{HERE}:9"}[url[0]]
    await place.put(tenants.admin_a, value, group_id=tenants.a)

    assert HERE not in str(await preview(tenants.user_a, agent, "look"))
    assert HERE in str(await preview(tenants.admin_a, agent, "look"))


async def test_a_packages_definition_is_the_admins_to_read(place: Place) -> None:
    """Another user of its tool learns the method, and whether the call would go out."""
    tenants = place.tenants
    installed = await tenants.root.api.post("/admin/tools/install", json=PACKAGE)
    assert installed.status_code == 201, installed.text
    agent = await place.agent("installed__find_it")

    shown = await preview(tenants.user_a, agent, "find_it")
    assert shown["request"] == {"method": "POST", "url": "***", "headers": {}, "body": None}
    assert (shown["egress"]["allowed"], shown["egress"]["host"]) == (True, None)
    assert [word for word in (HERE, "inside", "Inside") if word in str(shown)] == []
    admins = await preview(tenants.admin_a, agent, "find_it")
    assert (admins["egress"]["host"], admins["request"]["url"]) == (HERE, f"http://{HERE}:9/inside")


async def test_a_super_admin_who_acts_for_a_user_sees_it(place: Place) -> None:
    """The user's call, looked at by somebody who may know where it goes."""
    tenants = place.tenants
    agent = await place.tool("${BASE}/x")
    await place.put(tenants.admin_a, BASE, group_id=tenants.a)

    user = {"X-Toolcrib-User": str(tenants.user_a.id)}
    assert (await preview(tenants.root, agent, "look", **user))["egress"]["host"] == HERE
