"""The contract of ExposedNames: what a tool is called on an agent stays, and is nobody else's."""

from __future__ import annotations

import pytest

from tests.contracts.people import People
from toolcrib.errors import Conflict
from toolcrib.grants.agents import AgentDraft
from toolcrib.storage import Storage


async def test_thousands_are_kept_changed_and_never_given_twice(
    storage: Storage, people: People
) -> None:
    """A large server brings its names at once; one that is taken refuses them all."""
    store = storage.exposed_names
    agent = await storage.agents.create(AgentDraft(name="many", creator_id=people.ann.id))
    other = await storage.agents.create(AgentDraft(name="other", creator_id=people.ann.id))
    many = {("mcp:1", f"tool {n}"): f"tool_{n}" for n in range(1200)}
    await store.keep(agent.id, {})
    await store.keep(agent.id, many)
    await store.keep(other.id, {("mcp:2", "tool 7"): "tool_7"})

    changed = {("mcp:1", "tool 7"): "wiki__tool_7"}
    await store.keep(agent.id, changed)
    assert await store.known(agent.id) == many | changed

    with pytest.raises(Conflict, match="'tool_8'"):
        await store.keep(agent.id, {("mcp:2", "new"): "new", ("mcp:2", "tool 8"): "tool_8"})
    assert await store.known(agent.id) == many | changed
    assert await store.known(other.id) == {("mcp:2", "tool 7"): "tool_7"}
