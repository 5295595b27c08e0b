"""This module is our side as a client: the conformance suite starts it against its own servers.

    python -m tests.conformance.client URL

A whole Toolcrib connects to the server as to any other: a capability names it, a user logs in where
a login is wanted, an agent's tools are listed and called. The suite judges what it saw.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx

from tests.support.crib import Crib, Person, open_crib
from toolcrib.catalog.capabilities import CapabilityDraft
from toolcrib.grants.agents import AgentDraft
from toolcrib.identity.caller import Caller
from toolcrib.resolution.toolset import Toolset
from toolcrib.settings import Settings

SCENARIO = os.environ.get("MCP_CONFORMANCE_SCENARIO", "")
CONTEXT: Mapping[str, Any] = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}")
ARGUMENTS: Mapping[str, Mapping[str, Any]] = {
    "add_numbers": {"a": 5, "b": 3},
    "valid_tool": {"region": "eu"},
}
"""What tools are called with that want something."""
PATIENCE = 20.0
CONNECTIONS = "/api/v1/mcp/connections"
LOGINS = 3
"""How often a person logs in again for a server that wants more."""


def auth() -> dict[str, Any]:
    """The `auth` of the capability: what the scenario gave a client in advance."""
    if not SCENARIO.startswith("auth/"):
        return {}
    given: dict[str, Any] = {"type": "oauth2"}
    if "client_id" in CONTEXT:
        given["client_id"] = CONTEXT["client_id"]
    if "client_secret" in CONTEXT:
        given["client_secret"] = "${CLIENT_SECRET}"
    if "client-credentials" in SCENARIO:
        given["grant"] = "client_credentials"
    return {"auth": given}


async def main(url: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(
            data_dir=Path(folder),
            egress_allow=("127.0.0.0/8", "::1/128"),
            public_url="https://conformance-test.local",
        )
        async with open_crib(settings) as crib:
            await use(crib, url)


async def use(crib: Crib, url: str) -> None:
    group = await crib.desk.groups.create(crib.operator, name="Group")
    person = await crib.person("ada", "user", group.id)
    if "client_secret" in CONTEXT:
        secret = {"value": CONTEXT["client_secret"], "user_id": person.id}
        (await person.api.put("/api/v1/settings/CLIENT_SECRET", json=secret)).raise_for_status()
    options = {"server_label": "suite", "server_url": url, "require_approval": "never", **auth()}
    draft = CapabilityDraft(
        name="suite", code="suite", type="mcp", options=options, access_type="system"
    )
    row = await crib.desk.capabilities.create(crib.operator, draft)
    holder = AgentDraft(name="agent", creator_id=person.id, group_id=group.id)
    agent = await crib.desk.agents.create(person.caller, holder, capabilities=[row.id])
    ref = f"mcp:{row.id}"
    if auth():
        await log_in(crib, person, ref)
    toolset = await listed(crib, agent.id, person.caller)
    for _ in range(LOGINS):
        if not auth() or toolset.tools or not await wants_more(person):
            break
        await log_in(crib, person, ref)
        toolset = await listed(crib, agent.id, person.caller)
    for name, arguments in calls(toolset):
        for _ in range(LOGINS):
            await crib.platform.invoke(agent.id, name, arguments, person.caller, ask=answer)
            if not auth() or not await wants_more(person):
                break
            await log_in(crib, person, ref)


async def log_in(crib: Crib, person: Person, ref: str) -> None:
    """What a person does: open the address, agree, come back, and type the code."""
    begun = await person.api.post(CONNECTIONS, json={"ref": ref})
    begun.raise_for_status()
    place = begun.json().get("url")
    if place is None:
        return
    browser = await crib.client()
    (await browser.get(place)).raise_for_status()
    agreed = await browser.post(f"{place}/continue")
    async with httpx.AsyncClient(trust_env=False) as outside:
        sent = await outside.get(agreed.headers["location"])
    came = await browser.get(sent.headers["location"])
    came.raise_for_status()
    found = re.search("<code>(.+?)</code>", came.text)
    code = found[1] if found else ""
    confirmed = await person.api.post(f"{CONNECTIONS}/{ref}/confirm", json={"code": code})
    confirmed.raise_for_status()


async def wants_more(person: Person) -> bool:
    """Whether the server wanted more than the login allows."""
    found = (await person.api.get(CONNECTIONS)).json()["items"]
    return any(one["more_scopes"] for one in found)


async def listed(crib: Crib, agent: int, caller: Caller) -> Toolset:
    """The agent's tools, once its server answered or could not."""
    end = time.monotonic() + PATIENCE
    while True:
        toolset = await crib.platform.resolve(agent, caller)
        if toolset.tools or time.monotonic() > end:
            return toolset
        await asyncio.sleep(0.1)


def calls(toolset: Toolset) -> list[tuple[str, Mapping[str, Any]]]:
    """What the scenario asks for, else each tool once."""
    if "toolCalls" in CONTEXT:
        return [(one["name"], one["arguments"]) for one in CONTEXT["toolCalls"]]
    if SCENARIO.startswith("json-schema-2020-12"):
        schema = toolset.tools["json_schema_2020_12_tool"].input_schema
        echo = next(name for name in toolset.tools if name != "json_schema_2020_12_tool")
        return [(echo, {"schema": schema})]
    return [(name, ARGUMENTS.get(name, {})) for name in toolset.tools]


async def answer(params: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """A person who accepts what is proposed."""
    properties = (params.get("requestedSchema") or {}).get("properties") or {}
    content = {name: rule.get("default", "yes") for name, rule in properties.items()}
    return {"action": "accept", "content": content}


if __name__ == "__main__":
    asyncio.run(main(sys.argv[-1]))
