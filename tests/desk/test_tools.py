"""Tools: listed and called in and out of chats, explained to who may ask."""

from __future__ import annotations

import pytest

from tests.support.tenants import Tenants
from toolcrib.errors import InvalidRequest, NotFound
from toolcrib.grants.agents import AgentDraft


async def test_a_call_goes_by_name_or_by_ref(tenants: Tenants) -> None:
    """Both mean the same tool, and an unknown one of either kind is not found."""
    tools = tenants.crib.desk.tools
    agent = await tenants.agent(tenants.user_a, tenants.a, "greet")
    caller = tenants.user_a.caller

    for name in ("hello", "native:greet/hello"):
        outcome = await tools.call(caller, agent.id, name, {"name": "you"})
        assert (outcome.tool, outcome.output.text) == ("hello", "hello you")
    for name in ("nope", "native:greet/nope", "greet"):
        with pytest.raises(NotFound):
            await tools.call(caller, agent.id, name, {})
    with pytest.raises(NotFound):
        await tools.call(tenants.user_b.caller, agent.id, "hello", {"name": "you"})


async def test_bad_arguments_are_an_outcome(tenants: Tenants) -> None:
    """The model may try again; nothing was raised."""
    agent = await tenants.agent(tenants.user_a, tenants.a, "greet")

    outcome = await tenants.crib.desk.tools.call(tenants.user_a.caller, agent.id, "hello", {})

    assert outcome.output.error is not None
    assert outcome.output.error.code == "invalid_arguments"


async def test_a_call_in_a_chat_has_to_fit_it(tenants: Tenants) -> None:
    """Somebody else's chat, another uuid, another agent's chat, a second context: all refused."""
    tools = tenants.crib.desk.tools
    agent = await tenants.agent(tenants.user_a, tenants.a, "greet")
    other = await tenants.agent(tenants.admin_a, tenants.a, "greet")
    chat = await tenants.chat(tenants.user_a, agent)
    caller, arguments = tenants.user_a.caller, {"name": "you"}

    done = await tools.call(
        caller, agent.id, "hello", arguments, chat_id=chat.id, chat_uuid=chat.uuid
    )
    record = await tenants.crib.desk.calls.get(caller, done.call_id)
    assert record.chat_id == chat.id
    with pytest.raises(NotFound):
        await tools.call(tenants.admin_a.caller, agent.id, "hello", arguments, chat_id=chat.id)
    for agent_id, options, where in (
        (agent.id, {"chat_id": chat.id, "chat_uuid": "other"}, "chat_uuid"),
        (agent.id, {"chat_uuid": chat.uuid}, "chat_uuid"),
        (other.id, {"chat_id": chat.id}, "chat_id"),
        (agent.id, {"chat_id": chat.id, "context": {}}, "context"),
        (agent.id, {"context": {"page_type": 1}}, "context.page_type"),
    ):
        with pytest.raises(InvalidRequest) as refused:
            await tools.call(caller, agent_id, "hello", arguments, **options)
        assert refused.value.where == where


async def test_the_chats_context_chooses_the_tools(tenants: Tenants) -> None:
    """A list in the chat shows what a call in the chat can do."""
    tenants.crib.platform.registry.register_tools("canvas_toolkit", [_draw])
    tools = tenants.crib.desk.tools
    agent = await tenants.agent(tenants.user_a, tenants.a, "canvas_toolkit")
    html = await tenants.chat(tenants.user_a, agent, page_type="html")
    caller = tenants.user_a.caller

    assert list((await tools.list(caller, agent.id)).tools) == []
    assert list((await tools.list(caller, agent.id, chat_id=html.id)).tools) == ["_draw"]
    given = await tools.list(caller, agent.id, context={"page_type": "react"})
    assert list(given.tools) == ["_draw"]


async def test_an_explanation_names_the_rule(tenants: Tenants) -> None:
    """Visible with every step passed; else it ends with the step that stopped it."""
    explain = tenants.crib.desk.tools.explain
    agent = await tenants.agent(tenants.user_a, tenants.a, "greet")
    caller = tenants.user_a.caller

    seen = await explain(caller, agent.id, "hello")
    assert seen.visible
    assert {step.verdict for step in seen.steps} == {"passed"}
    missing = await explain(caller, agent.id, "add_note")
    assert (missing.visible, missing.steps[-1].step) == (False, "capability")


async def test_only_admins_learn_which_code_has_a_tool(tenants: Tenants) -> None:
    """What is installed and not granted is for administrators to know."""
    explain = tenants.crib.desk.tools.explain
    agent = await tenants.agent(tenants.user_a, tenants.a, "greet")

    told = await explain(tenants.admin_a.caller, agent.id, "add_note")
    untold = await explain(tenants.user_a.caller, agent.id, "add_note")

    assert "registered under notes" in told.steps[-1].detail
    assert "notes" not in untold.steps[-1].detail


async def test_another_user_is_explained_to_their_admins(tenants: Tenants) -> None:
    """As that user would see it; to everybody else the user does not exist."""
    desk = tenants.crib.desk
    agent = await tenants.agent(tenants.admin_a, tenants.a, "greet")
    own = await desk.agents.create(tenants.admin_a.caller, AgentDraft(name="own", creator_id=0))

    for person in (tenants.root, tenants.admin_a):
        told = await desk.tools.explain(person.caller, agent.id, "hello", user_id=tenants.user_a.id)
        assert told.visible
    told = await desk.tools.explain(
        tenants.admin_a.caller, own.id, "hello", user_id=tenants.user_a.id
    )
    assert [(step.step, step.verdict) for step in told.steps] == [("agent", "stopped")]
    with pytest.raises(NotFound):
        await desk.tools.explain(
            tenants.user_a.caller, agent.id, "hello", user_id=tenants.admin_a.id
        )
    with pytest.raises(NotFound):
        await desk.tools.explain(
            tenants.admin_a.caller, agent.id, "hello", user_id=tenants.user_b.id
        )


async def _draw() -> str:
    """Draws."""
    return "drawn"
