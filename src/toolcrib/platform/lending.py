"""This module puts together what the platform lends to tools."""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolcrib.desk.lending.agents import LentAgents
from toolcrib.desk.lending.chats import LentChats
from toolcrib.desk.lending.files import LentFiles
from toolcrib.desk.lending.tasks import LentMemories, LentTasks
from toolcrib.desk.lending.toolbox import LentSettings, LentToolbox
from toolcrib.plugin.lent import Lent
from toolcrib.plugin.web import Web

if TYPE_CHECKING:
    from toolcrib.platform.platform import Platform


def lent_by(platform: Platform) -> Lent:
    """Every service, over the platform's own parts."""
    storage, desk, settings = platform.storage, platform.desk, platform.settings
    return Lent(
        chats=LentChats(chats=storage.chats, desk=desk.chats),
        tasks=LentTasks(storage.tasks),
        memories=LentMemories(storage.memories),
        files=LentFiles(desk.documents),
        agents=LentAgents(agents=desk.agents, capabilities=storage.capabilities),
        settings=LentSettings(desk.settings),
        toolbox=LentToolbox(resolver=platform.resolver, invoke=platform.invoke),
        web=Web(platform.client, platform.home),
        addresses={"serper": settings.serper_url, "vapi": settings.vapi_url},
    )
