"""Where stored values say where a server is, errors do not tell what the values are."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.stories.test_mcp_upstream import agent_of, call, tools_of
from tests.support.crib import Crib, open_crib
from tests.support.tenants import Tenants, make_tenants
from toolcrib.settings import Settings

HOSTS = {
    "a private address": ("https://10.66.55.44:8443", "10.66.55.44", "8443"),
    "nobody listens": ("http://127.0.0.1:9", "127.0.0.1", ":9"),
    "no such name": ("https://hidden-host.invalid:8444", "hidden-host", "8444"),
    "a name within": ("https://localhost:8445", "localhost", "8445"),
    "an address of six": ("https://[fd00::17]:8446", "fd00::17", "8446"),
    "no encryption": ("http://hidden-host.invalid:8447", "hidden-host", "8447"),
}


@pytest.fixture
async def crib(data_dir: Path) -> AsyncIterator[Crib]:
    settings = Settings(data_dir=data_dir, egress_allow=("127.0.0.1:9",))
    async with open_crib(settings) as made:
        yield made


async def row(tenants: Tenants, kind: str, options: dict[str, Any]) -> int:
    made = await tenants.admin_a.api.post(
        "/api/super-admin/capabilities",
        json={
            "name": "hidden",
            "code": "hidden",
            "type": kind,
            "access_type": "group",
            "group_id": tenants.a,
            "options": options,
        },
    )
    assert made.status_code == 201, made.text
    return made.json()["id"]


async def keep(tenants: Tenants, value: str) -> None:
    setting = {"value": value, "group_id": tenants.a}
    kept = await tenants.admin_a.api.put("/api/v1/settings/HIDDEN_ADDRESS", json=setting)
    assert kept.status_code == 204, kept.text


@pytest.mark.parametrize("named", HOSTS)
async def test_a_call_that_fails(crib: Crib, named: str) -> None:
    """Its error says why, and neither the host nor the port."""
    base, host, port = HOSTS[named]
    tenants = await make_tenants(crib)
    await keep(tenants, base)
    options = {"url": "${HIDDEN_ADDRESS}/x", "name": "ask", "method": "POST"}
    agent = await agent_of(tenants, tenants.admin_a, await row(tenants, "api", options))
    for person in (tenants.user_a, tenants.admin_a):
        done = await call(person, agent, "ask")
        assert not done["success"]
        assert "***" in str(done)
        assert host not in str(done)
        assert port not in str(done)


@pytest.mark.parametrize("named", [name for name in HOSTS if name != "nobody listens"])
async def test_a_server_that_cannot_be_used(crib: Crib, named: str) -> None:
    """Neither the reasons of lists nor the list of servers tell where it is."""
    base, host, port = HOSTS[named]
    tenants = await make_tenants(crib)
    await keep(tenants, f"{base}/mcp")
    options = {
        "server_label": "hidden",
        "server_url": "${HIDDEN_ADDRESS}",
        "require_approval": "never",
    }
    ref = f"mcp:{await row(tenants, 'mcp', options)}"
    agent = await agent_of(tenants, tenants.admin_a, int(ref[4:]))
    user = tenants.user_a
    while "server failed" not in str((found := await tools_of(user, agent))["skipped"]):  # noqa: ASYNC110
        await asyncio.sleep(0.05)
    servers = (await user.api.get("/api/v1/mcp/servers")).json()["items"]
    [shown] = [one for one in servers if one["ref"] == ref]
    for text in (str(found["skipped"]), str(shown["error"])):
        assert "***" in text
        assert host not in text
        assert port not in text


async def test_a_login_that_cannot_be_begun(crib: Crib) -> None:
    """Asking the server whom it trusts fails as calls do."""
    tenants = await make_tenants(crib)
    await keep(tenants, "https://10.66.55.44:8443/mcp")
    options = {
        "server_label": "hidden",
        "server_url": "${HIDDEN_ADDRESS}",
        "require_approval": "never",
        "auth": {"type": "oauth2"},
    }
    ref = f"mcp:{await row(tenants, 'mcp', options)}"
    answer = await tenants.user_a.api.post("/api/v1/mcp/connections", json={"ref": ref})
    assert answer.status_code == 422, answer.text
    assert "'***' is a private address" in answer.text
    assert "10.66" not in answer.text
    assert "8443" not in answer.text


async def test_a_host_that_the_definition_names(crib: Crib) -> None:
    """Stays readable, whatever else is stored."""
    tenants = await make_tenants(crib)
    await keep(tenants, "some/path")
    options = {
        "url": "https://10.66.55.44:8443/${HIDDEN_ADDRESS}",
        "name": "ask",
        "method": "POST",
    }
    agent = await agent_of(tenants, tenants.admin_a, await row(tenants, "api", options))
    done = await call(tenants.user_a, agent, "ask")
    assert "10.66.55.44" in str(done)
