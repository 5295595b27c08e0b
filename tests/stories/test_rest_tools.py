"""REST endpoints as tools, over REST: from a definition in JSON to the bytes at the upstream."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any

import pytest

from tests.support.crib import Crib, Person, open_crib, problem_of
from toolcrib.settings import Settings
from toolcrib.testing.replies import json_answer
from toolcrib.testing.upstream import RecordingUpstream

PACKAGE: dict[str, Any] = {
    "slug": "find_it",
    "name": "Find it",
    "description": "Looks things up.",
    "type": "http",
    "config": {"url": "{{FIND_URL}}/find", "headers": {"X-Key": "{{FIND_KEY}}"}},
    "input_schema": {
        "type": "object",
        "properties": {"q": {"type": "string"}},
        "required": ["q"],
    },
}


@pytest.fixture
async def upstream() -> AsyncGenerator[RecordingUpstream]:
    async with RecordingUpstream() as server:
        yield server


@pytest.fixture
async def crib(settings: Settings, upstream: RecordingUpstream) -> AsyncGenerator[Crib]:
    allowed = settings.model_copy(update={"egress_allow": (upstream.place,)})
    async with open_crib(allowed) as opened:
        yield opened


@pytest.fixture
async def root(crib: Crib) -> Person:
    return await crib.somebody(1)


def api_capability(url: str, **options: Any) -> dict[str, Any]:
    return {
        "name": "Weather",
        "code": "weather",
        "type": "api",
        "access_type": "user",
        "options": {"name": "get_weather", "url": url, **options},
    }


async def agent_with(root: Person, *capabilities: str) -> int:
    body = {"name": "a", "capabilities": list(capabilities)}
    answer = await root.api.post("/api/v1/agents", json=body)
    assert answer.status_code == 201, answer.text
    return answer.json()["id"]


async def call(root: Person, agent: int, tool: str, **arguments: Any) -> dict[str, Any]:
    answer = await root.api.post(
        f"/api/v1/agents/{agent}/tools/{tool}/call", json={"arguments": arguments}
    )
    assert answer.status_code == 200, answer.text
    return answer.json()


async def test_an_api_capability_from_row_to_wire(
    root: Person, upstream: RecordingUpstream
) -> None:
    """Created, attached, missing its setting, given it, previewed, called, journalled."""
    upstream.reply("/v1/Oslo", json_answer({"degrees": 3}))
    body = api_capability(
        upstream.url("/v1/{city}"), headers={"Authorization": "Bearer ${WEATHER_KEY}"}
    )
    assert (await root.api.post("/api/super-admin/capabilities", json=body)).status_code == 201
    agent = await agent_with(root, "weather")

    skipped = (await root.api.get(f"/api/v1/agents/{agent}/tools")).json()["skipped"]
    assert [(s["ref"], "WEATHER_KEY" in s["reason"]) for s in skipped] == [("api:weather", True)]

    await root.api.put("/api/v1/settings/WEATHER_KEY", json={"value": "the-weather-key"})
    preview = await root.api.post(
        f"/api/v1/agents/{agent}/tools/get_weather/preview", json={"arguments": {"city": "Oslo"}}
    )
    assert preview.json()["egress"]["allowed"] is True
    assert "the-weather-key" not in preview.text
    assert upstream.requests == []

    result = await call(root, agent, "get_weather", city="Oslo")
    assert (result["success"], result["structured"]) == (True, {"degrees": 3})
    assert upstream.requests[0].header("Authorization") == "Bearer the-weather-key"
    assert upstream.requests[0].target == "/v1/Oslo"
    calls = (await root.api.get("/api/v1/calls")).json()["items"]
    assert [(c["tool"], c["arguments"]) for c in calls] == [("get_weather", {"city": "Oslo"})]


@pytest.mark.parametrize(
    ("options", "where"),
    [
        ({"url": "ftp://x.example"}, "options.url"),
        ({"url": "https://x.example", "method": "DELETE"}, "options.method"),
        (
            {"url": "https://x.example", "body": {"a": {}}, "body_template": {}},
            "options.body",
        ),
        ({"url": "https://x.example/{a}", "path_params": {"b": {}}}, "options.path_params.b"),
    ],
)
async def test_a_bad_definition_is_refused_with_its_place(
    root: Person, options: dict[str, Any], where: str
) -> None:
    """Nothing is stored, and the problem names the path inside the options."""
    body = {**api_capability("https://x.example"), "options": {"name": "t", **options}}

    answer = await root.api.post("/api/super-admin/capabilities", json=body)

    assert problem_of(answer) == (422, "invalid_options", where)
    assert (await root.api.get("/api/super-admin/capabilities")).json()["items"] == []


async def test_a_package_from_install_to_an_agent(
    root: Person, upstream: RecordingUpstream
) -> None:
    """Previewed, installed, granted by its code, called when its secrets are there."""
    upstream.reply("/find", json_answer([1, 2]))
    preview = (await root.api.post("/admin/tools/preview", json={**PACKAGE, "zest": 1})).json()
    assert (preview["ignored_fields"], preview["errors"], preview["exists"]) == (
        ["zest"],
        [],
        False,
    )
    assert preview["secret_status"] == {"FIND_KEY": "missing", "FIND_URL": "missing"}
    assert (await root.api.post("/admin/tools/install", json=PACKAGE)).status_code == 201
    agent = await agent_with(root, "installed__find_it")

    reasons = [
        s["reason"] for s in (await root.api.get(f"/api/v1/agents/{agent}/tools")).json()["skipped"]
    ]
    assert reasons == ["the secret 'FIND_KEY' has no value"]
    await root.api.put("/admin/secrets/FIND_KEY", json={"value": "find-key-value"})
    await root.api.put("/admin/secrets/FIND_URL", json={"value": upstream.url("")})
    result = await call(root, agent, "find_it", q="a b")

    assert result["structured"] == {"status": 200, "body": [1, 2]}
    assert upstream.requests[0].target == "/find?q=a%20b"
    assert upstream.requests[0].header("X-Key") == "find-key-value"
    listed = (await root.api.get("/admin/secrets")).json()["items"]
    assert [(s["name"], s["status"], s["used_by"]) for s in listed] == [
        ("FIND_KEY", "configured", ["find_it"]),
        ("FIND_URL", "configured", ["find_it"]),
    ]
    assert "find-key-value" not in str(listed)


async def test_an_installed_package_is_not_overwritten_by_accident(root: Person) -> None:
    """A second install is refused and shows what is there; PUT replaces on purpose."""
    await root.api.post("/admin/tools/install", json=PACKAGE)
    other = {**PACKAGE, "name": "Other"}

    refused = await root.api.post("/admin/tools/install", json=other)
    assert problem_of(refused)[:2] == (409, "conflict")
    assert (await root.api.get("/admin/tools/find_it")).json()["name"] == "Find it"
    assert (await root.api.put("/admin/tools/find_it", json=other)).status_code == 200
    assert (await root.api.get("/admin/tools/find_it")).json()["name"] == "Other"
    wrong = await root.api.put("/admin/tools/find_it", json={**PACKAGE, "slug": "find_that"})
    assert problem_of(wrong) == (422, "invalid_options", "slug")


@pytest.mark.parametrize(
    ("body", "status", "where"),
    [
        (b'{"slug": "a", "slug": "b"}', 400, "line 1, column 15"),
        (b'{"slug": NaN}', 400, "line 1, column 10"),
        (b'{"slug": "a"} x', 400, "line 1, column 15"),
        (b"[1]", 400, None),
        (b'{"slug": "Bad-Slug", "name": "x", "type": "http", "config": {}}', 422, "slug"),
        (b'{"slug": "good", "name": "x", "type": "soap", "config": {}}', 422, "type"),
    ],
)
async def test_what_is_no_package_is_refused_with_its_place(
    root: Person, body: bytes, status: int, where: str | None
) -> None:
    """Strict JSON first, then slug and type; nothing is half-stored."""
    answer = await root.api.post(
        "/admin/tools/install", content=body, headers={"Content-Type": "application/json"}
    )

    assert (problem_of(answer)[0], problem_of(answer)[2]) == (status, where)
    assert (await root.api.get("/admin/tools")).json()["items"] == []


async def test_switching_testing_and_deleting(root: Person, upstream: RecordingUpstream) -> None:
    """Disabled is gone at once; a test says what is missing; deleted takes its grants along."""
    await root.api.post("/admin/tools/install", json=PACKAGE)
    agent = await agent_with(root, "installed__find_it")

    tested = (
        await root.api.post("/admin/tools/find_it/test", json={"arguments": {"q": "x"}})
    ).json()
    assert (tested["success"], tested["error"]["code"]) == (False, "secret_missing")
    last = (await root.api.get("/admin/tools/find_it")).json()["last_test"]
    assert (last["success"], last["error"]["code"]) == (False, "secret_missing")
    await root.api.put("/admin/secrets/FIND_KEY", json={"value": "find-key-value"})
    await root.api.put("/admin/secrets/FIND_URL", json={"value": upstream.url("")})
    assert (
        await root.api.post("/admin/tools/find_it/test", json={"arguments": {"q": "x"}})
    ).json()["success"]

    disabled = (await root.api.post("/admin/tools/find_it/disable")).json()
    listed = (await root.api.get(f"/api/v1/agents/{agent}/tools")).json()
    assert (disabled["enabled"], listed["tools"]) == (False, [])
    assert listed["skipped"][0]["reason"] == "the package is disabled"
    assert (await root.api.post("/admin/tools/find_it/enable")).json()["enabled"]
    assert (await root.api.delete("/admin/tools/find_it")).status_code == 204
    assert (await root.api.get(f"/api/v1/agents/{agent}")).json()["capabilities"] == []
    listed = (await root.api.get(f"/api/v1/agents/{agent}/tools")).json()
    assert (listed["tools"], listed["skipped"]) == ([], [])
    assert (await root.api.post("/admin/tools/install", json=PACKAGE)).status_code == 201
    assert (await root.api.get(f"/api/v1/agents/{agent}/tools")).json()["tools"] == []


async def test_packages_are_the_admins_to_see_and_the_super_admins_to_change(
    crib: Crib, root: Person
) -> None:
    """A user does not learn that there is a package; an admin may look and give it."""
    await root.api.post("/admin/tools/install", json=PACKAGE)
    group = await crib.desk.groups.create(crib.operator, name="g")
    admin = await crib.person("ann", "admin", group.id)
    user = await crib.person("bob", "user", group.id)

    assert (await admin.api.get("/admin/tools/find_it")).status_code == 200
    assert (await admin.api.delete("/admin/tools/find_it")).status_code == 403
    assert (await admin.api.get("/admin/secrets")).status_code == 200
    for path in ("/admin/tools", "/admin/tools/find_it", "/admin/secrets"):
        assert (await user.api.get(path)).status_code == 403
    body = {"name": "mine", "capabilities": ["installed__find_it"]}
    assert problem_of(await user.api.post("/api/v1/agents", json=body))[2] == "capabilities.0"
    assert (await admin.api.post("/api/v1/agents", json=body)).status_code == 201


async def test_a_private_address_is_refused_before_a_byte_is_sent(settings: Settings) -> None:
    """Nothing but the operator opens the way to loopback, and preview says so beforehand."""
    async with RecordingUpstream() as upstream, open_crib(settings) as crib:
        root = await crib.somebody(1)
        await root.api.put("/admin/secrets/FIND_KEY", json={"value": "find-key-value"})
        await root.api.put("/admin/secrets/FIND_URL", json={"value": "https://127.0.0.1:1"})
        await root.api.post("/admin/tools/install", json=PACKAGE)
        agent = await agent_with(root, "installed__find_it")

        preview = await root.api.post(
            f"/api/v1/agents/{agent}/tools/find_it/preview", json={"arguments": {"q": "x"}}
        )
        result = await call(root, agent, "find_it", q="x")

        assert preview.json()["egress"]["allowed"] is False
        assert (result["success"], result["error"]["code"]) == (False, "blocked")
        assert upstream.requests == []


async def test_the_schema_and_the_guide_need_no_token(crib: Crib) -> None:
    """An assistant reads both; the package of the guide is valid and would install."""
    anybody = await crib.client()

    schema = (await anybody.get("/schemas/package.json")).json()
    guide = (await anybody.get("/llms.txt")).text

    assert schema["required"] == ["slug", "name", "type", "config"]
    assert "installed__SLUG" in guide
    assert "{{KB_API_KEY}}" in guide
