"""This module opens an office whose agent has a sandbox."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import pytest

from tests.support.chatting import Office, Talk, open_office
from tests.support.walls import isolation
from toolcrib.settings import Settings


@pytest.fixture
async def office(settings: Settings) -> AsyncGenerator[Office]:
    isolation()
    small = settings.model_copy(update={"sandbox_memory": 256, "sandbox_disk": 64})
    async with open_office(small, ["sandbox", "git_sync"]) as opened:
        yield opened


@pytest.fixture
async def talk(office: Office) -> Talk:
    return await office.talk(await office.person("ada"))
