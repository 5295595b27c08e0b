"""What a server passes of the official conformance suite, it passes through the gateway."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from tests.conformance.door import TokenDoor
from tests.conformance.reference import app
from tests.conformance.suite import RUNS, Run, Verdicts, of_server
from tests.support.crib import open_crib
from tests.support.listening import listening
from tests.support.tenants import make_tenants
from toolcrib.catalog.capabilities import CapabilityDraft
from toolcrib.grants.agents import AgentDraft
from toolcrib.settings import Settings

NOT_OFFERED = {
    "completion-complete": "completion",
    "prompts-list": "prompts",
    "prompts-get-simple": "prompts",
    "prompts-get-with-args": "prompts",
    "prompts-get-embedded-resource": "prompts",
    "prompts-get-with-image": "prompts",
    "resources-list": "resources",
    "resources-read-text": "resources",
    "resources-read-binary": "resources",
    "resources-templates-read": "resources",
    "resources-subscribe": "resources",
    "resources-unsubscribe": "resources",
    "sep-2164-resource-not-found": "resources",
    "input-required-result-non-tool-request": "prompts",
    "tools-call-sampling": "sampling",
    "input-required-result-basic-sampling": "sampling",
    "input-required-result-capability-check": "sampling",
    "server-sse-polling": "resuming a stream that was closed in the middle of a call",
    "input-required-result-basic-list-roots": "roots",
    "input-required-result-multiple-input-requests": "sampling and roots",
    "tasks-capability-negotiation": "tasks, an extension",
    "tasks-dispatch-and-envelope": "tasks, an extension",
    "tasks-lifecycle": "tasks, an extension",
    "tasks-mrtr-composition": "tasks, an extension",
    "tasks-mrtr-input": "tasks, an extension",
    "tasks-request-headers": "tasks, an extension",
    "tasks-request-state-removal": "tasks, an extension",
    "tasks-required-task-error": "tasks, an extension",
    "tasks-status-notifications": "tasks, an extension",
    "tasks-wire-fields": "tasks, an extension",
}
"""Scenarios of what the gateway does not offer, and what that is."""
CHECKS_NOT_OFFERED = {
    "sep-2549-prompts-list-caching-hints": "prompts",
    "sep-2549-resources-list-caching-hints": "resources",
    "sep-2549-resources-read-caching-hints": "resources",
    "sep-2549-resources-templates-list-caching-hints": "resources",
    "sep-2575-missing-capability-http-400": "sampling",
    "sep-2575-server-rejects-undeclared-capability": "sampling",
    "server-sse-streams-functional": "a stream where a plain answer says it all",
}
"""Checks of the same in scenarios that are about more."""


@pytest.fixture
async def upstream() -> AsyncGenerator[str]:
    async with listening(app()) as url:
        yield f"{url}/mcp"


@pytest.fixture
async def gateway(settings: Settings, upstream: str) -> AsyncGenerator[str]:
    """The address of an agent that has the server's tools, behind the door."""
    allowed = settings.model_copy(update={"egress_allow": ("127.0.0.0/8",)})
    async with open_crib(allowed) as crib:
        tenants = await make_tenants(crib)
        row = CapabilityDraft(
            name="reference",
            code="reference",
            type="mcp",
            options={
                "server_label": "reference",
                "server_url": upstream,
                "require_approval": "never",
            },
            access_type="system",
        )
        held = (await crib.desk.capabilities.create(crib.operator, row)).id
        person = tenants.user_a
        draft = AgentDraft(name="agent", creator_id=person.id, group_id=tenants.a)
        agent = await crib.desk.agents.create(person.caller, draft, capabilities=[held])
        door = TokenDoor(crib.app, path=f"/mcp/agents/{agent.id}", token=person.token)
        async with listening(door) as url:
            yield f"{url}/mcp"


@pytest.mark.timeout(600)
@pytest.mark.parametrize("run", RUNS, ids=lambda run: run.name)
async def test_what_passes_directly_passes_through_the_gateway(
    run: Run, upstream: str, gateway: str, tmp_path: Path
) -> None:
    """Every check, but for scenarios of what is not offered."""
    direct = await of_server(run, upstream, tmp_path / "direct")
    through = await of_server(run, gateway, tmp_path / "through")

    passed = _passed(direct)
    assert len(passed) > 25, direct
    lost = passed - _passed(through)
    assert not lost, "\n".join(f"{s}: {c}: {through.get(s, {}).get(c)}" for s, c in sorted(lost))


def _passed(verdicts: Verdicts) -> set[tuple[str, str]]:
    return {
        (scenario, check)
        for scenario, checks in verdicts.items()
        if scenario not in NOT_OFFERED
        for check, verdict in checks.items()
        if verdict == "SUCCESS" and check not in CHECKS_NOT_OFFERED
    }
