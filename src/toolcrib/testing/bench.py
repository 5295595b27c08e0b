"""This module sets up a whole Toolcrib around one plugin: its tools are called as users call them.

async with workbench(register, settings={"CRM_TOKEN": "made-up"}) as bench:
    outcome = await bench.call("find_contact", {"query": "Ada"})
    assert outcome.success
"""

from __future__ import annotations

import inspect
import tempfile
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from toolcrib.agents.chats import Chat
from toolcrib.catalog.capabilities import CapabilityDraft
from toolcrib.grants.agents import Agent, AgentDraft
from toolcrib.identity.accounts import Group, User
from toolcrib.identity.caller import Caller
from toolcrib.identity.roles import Role
from toolcrib.invocation.flight import Outcome
from toolcrib.platform import Platform, open_platform
from toolcrib.plugin.changes import Origin
from toolcrib.plugin.loading import call_register
from toolcrib.plugin.recording import Recording
from toolcrib.plugin.registration import Registry
from toolcrib.resolution.toolset import Toolset
from toolcrib.secrets.settings import SettingOwner
from toolcrib.settings import Settings


@dataclass(frozen=True, kw_only=True, slots=True)
class Workbench:
    """An open platform with a group, a user of it, an agent that holds the tools, and a chat."""

    platform: Platform
    group: Group
    user: User
    agent: Agent
    chat: Chat
    codes: tuple[str, ...]
    """What the plugin registered."""

    @property
    def caller(self) -> Caller:
        """The user, outside a chat."""
        return Caller(user_id=self.user.id, group_ids=self.user.group_ids, group_id=self.group.id)

    @property
    def config(self) -> dict[str, Any]:
        """The RunnableConfig of the user in the chat, for LangChain."""
        return {
            "configurable": {
                "logged_user_id": self.user.id,
                "group_id": self.group.id,
                "chat_id": self.chat.id,
                "chat_uuid": self.chat.uuid,
            }
        }

    async def toolset(self) -> Toolset:
        """The tools that the user gets, and a skip with its reason for each that they do not."""
        return await self.platform.resolve(self.agent.id, self.caller)

    async def call(
        self, tool: str, arguments: Mapping[str, Any] | None = None, *, in_chat: bool = True
    ) -> Outcome:
        """Call a tool as the user would, with grants, checks and the journal.

        Raises NotFound for a tool that the user does not have.
        """
        return await self.platform.desk.tools.call(
            self.caller,
            self.agent.id,
            tool,
            dict(arguments or {}),
            chat_id=self.chat.id if in_chat else None,
            surface="test",
        )


@asynccontextmanager
async def workbench(
    register: Callable[..., Any],
    *,
    settings: Mapping[str, str] | None = None,
    context: Mapping[str, Any] | None = None,
    data_dir: Path | None = None,
) -> AsyncGenerator[Workbench]:
    """Load a plugin by its `register` function and put its tools into an agent's hands.

    `settings` are the user's own, as `${NAME}` and `get_user_setting_value` find them; `context`
    is the chat's. Everything is kept in `data_dir`, or in a folder that goes away afterwards.
    """
    with tempfile.TemporaryDirectory(prefix="toolcrib-") as folder:
        chosen = Settings(data_dir=data_dir or Path(folder), log_level="warning")
        registry = Registry()
        async with open_platform(chosen, registry=registry) as platform:
            limits = platform.servers.limits  # a test waits for a server until it knows
            platform.servers.limits = replace(limits, patience=limits.opening)
            codes = await _load(platform, registry, register)
            yield await _furnish(platform, codes, settings or {}, context)


async def _load(
    platform: Platform, registry: Registry, register: Callable[..., Any]
) -> tuple[str, ...]:
    home = inspect.getmodule(register)
    name = home.__name__ if home else "plugin"
    origin = Origin(distribution=name, version="", entry_point=name, value=f"{name}:register")
    recording = Recording(registry, origin)
    with recording.active():
        made = call_register(register, recording, platform.host.context_for(recording))
        if inspect.isawaitable(made):
            await made
    return recording.commit()


async def _furnish(
    platform: Platform,
    codes: tuple[str, ...],
    settings: Mapping[str, str],
    context: Mapping[str, Any] | None,
) -> Workbench:
    storage = platform.storage
    group = await storage.groups.create(name="workbench")
    user = await storage.users.create(
        name="tester",
        role=Role.USER,
        group_ids=frozenset({group.id}),
        entitlements=frozenset({"chat", "idp"}),
    )
    for name, value in settings.items():
        await platform.values.put(name, value, SettingOwner(user_id=user.id))
    rows = [
        await storage.capabilities.create(
            CapabilityDraft(name=code, code=code, access_type="group", group_id=group.id)
        )
        for code in codes
    ]
    agent = await storage.agents.create(
        AgentDraft(
            name="workbench",
            group_id=group.id,
            creator_id=user.id,
            capability_ids=tuple(row.id for row in rows),
        )
    )
    for topic in ("identity", "settings", "catalog", "grants"):
        await storage.signals.bump(topic)
    caller = Caller(user_id=user.id, group_ids=user.group_ids, group_id=group.id)
    chat = await platform.desk.chats.create(caller, agent_id=agent.id, context=context)
    return Workbench(platform=platform, group=group, user=user, agent=agent, chat=chat, codes=codes)
