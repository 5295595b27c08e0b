"""This module opens what chats have of their own: sandboxes, and what browsers need."""

from __future__ import annotations

import asyncio
from itertools import count

import structlog

from toolcrib.agents.chats import ChatStore
from toolcrib.errors import ToolcribError
from toolcrib.isolation.limits import MIB, Limits
from toolcrib.isolation.sandboxes import Key, Sandboxes
from toolcrib.net.client import GuardedClient
from toolcrib.plugin.rooms import BrowserPlan, Rooms
from toolcrib.settings import Settings

_log = structlog.get_logger(__name__)


def sandboxes_of(settings: Settings, chats: ChatStore | None = None) -> Sandboxes:
    """The sandboxes of an installation; nothing is made before the first command."""

    async def lives(key: Key) -> bool:
        chat = None if chats is None else await chats.find(key.number)
        return chat is not None and chat.uuid == key.uuid

    return Sandboxes(
        settings.data_dir / "sandboxes",
        mode=settings.sandbox,
        network=settings.sandbox_network,
        limits=Limits(
            memory=settings.sandbox_memory * MIB,
            disk=settings.sandbox_disk * MIB,
            processes=settings.sandbox_processes,
        ),
        lives=None if chats is None else lives,
    )


def open_rooms(settings: Settings, client: GuardedClient, chats: ChatStore) -> Rooms:
    """Make it in the loop that the platform belongs to."""
    return Rooms(
        sandboxes_of(settings, chats),
        guard=client.guard,
        proxy=settings.egress_proxy.get_secret_value(),
        browser=BrowserPlan(program=settings.browser),
        git_remote=settings.sandbox_git_remote.get_secret_value(),
    )


async def look_after(rooms: Rooms, chats: ChatStore) -> None:
    """Close what is idle each minute, and each hour what belongs to chats that are gone."""
    await asyncio.to_thread(lambda: rooms.sandboxes.obstacle)  # so that no caller waits for it
    for minute in count():
        if minute % 60 == 0:
            await _end_forgotten(rooms, chats)
        await rooms.tidy()
        await asyncio.sleep(60.0)


async def _end_forgotten(rooms: Rooms, chats: ChatStore) -> None:
    """A chat may go while no process looks, or with the user or agent it belongs to."""
    try:
        for key in await asyncio.to_thread(rooms.sandboxes.kept):
            if await chats.find(key.number) is None:
                await rooms.end(key.number, key.uuid)
        await rooms.sandboxes.clear()
    except (OSError, ToolcribError) as error:
        _log.warning("forgotten sandboxes stay for now", error=str(error))
