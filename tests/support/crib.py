"""This module opens a whole Toolcrib for a test: real storage, real registry, the real application.

Nothing listens: requests go to the application in this process. Each `Person` has a token of
their own and speaks as a client would.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from fastapi import FastAPI

from toolcrib.asgi import create_app_for
from toolcrib.desk.operator import operator
from toolcrib.desk.setup import first_token
from toolcrib.identity.caller import Caller
from toolcrib.identity.roles import Role
from toolcrib.platform import Platform, open_platform
from toolcrib.plugin.registration import Registry, annotations
from toolcrib.settings import Settings
from toolcrib.storage import open_storage

URL = "http://127.0.0.1:8420"


def sample_registry() -> Registry:
    """Codes `greet` (one read-only tool) and `notes` (two tools, one of which fails)."""
    registry = Registry()

    @annotations(read_only=True)
    async def hello(name: str) -> str:
        """Say hello to somebody."""
        return f"hello {name}"

    async def add_note(text: str) -> str:
        """Keep a note."""
        return f"noted: {text}"

    async def lose_note() -> str:
        """Never works."""
        raise ValueError("the note is gone")

    registry.register_tools("greet", [hello], name="Greetings", description="Says hello.")
    registry.register_tools(
        "notes", [add_note, lose_note], name="Notes", description="Keeps notes."
    )
    return registry


@dataclass(frozen=True, kw_only=True)
class Person:
    """Somebody with a token. `api` sends requests as them."""

    id: int
    token: str
    caller: Caller
    api: httpx.AsyncClient


class Crib:
    """An open platform with its application, and the people who use it."""

    def __init__(self, platform: Platform, app: FastAPI, stack: AsyncExitStack) -> None:
        self.platform = platform
        self.desk = platform.desk
        self.app = app
        self.operator = operator()
        self._stack = stack

    async def client(self, token: str | None = None, **headers: str) -> httpx.AsyncClient:
        """A client with this token, or with none."""
        if token is not None:
            headers = {"Authorization": f"Bearer {token}", **headers}
        http = httpx.AsyncClient(
            transport=httpx.ASGITransport(self.app), base_url=URL, headers=headers
        )
        return await self._stack.enter_async_context(http)

    async def person(self, name: str, role: str, *group_ids: int) -> Person:
        """Make a user with a token."""
        user = await self.desk.users.create(
            self.operator, name=name, role=Role(role), group_ids=group_ids
        )
        return await self.somebody(user.id)

    async def somebody(self, user_id: int, *, agent_id: int | None = None) -> Person:
        """A new token of a user who exists, bound to the agent if one is named."""
        _, made = await self.desk.tokens.create(
            self.operator, user_id=user_id, name="test", agent_id=agent_id
        )
        caller = await self.platform.authenticator.caller_of(made.text)
        api = await self.client(made.text)
        return Person(id=user_id, token=made.text, caller=caller, api=api)


_template: list[Path] = []
"""An empty database of this process, made once: copying it is faster than migrating anew."""


async def _empty_database(path: Path) -> None:
    if not _template:
        made = Path(tempfile.mkdtemp(prefix="toolcrib-test-")) / "empty.db"
        await (await open_storage(f"sqlite:///{made}")).close()
        _template.append(made)
    shutil.copyfile(_template[0], path)


@asynccontextmanager
async def open_crib(
    settings: Settings, *, registry: Registry | None = None, patience: float = 60.0
) -> AsyncGenerator[Crib]:
    """Open one with the operator as its first user.

    `patience` is how long whoever lists tools waits for a server that is not known yet, in seconds:
    far longer than in use, so that what a test sees does not depend on how busy the machine is.
    """
    registry = registry or sample_registry()
    if not settings.database_url:
        await _empty_database(settings.data_dir / "toolcrib.db")
    opening = open_platform(settings, registry=registry, patience=patience)
    async with opening as platform, AsyncExitStack() as stack:
        storage = platform.storage
        await first_token(storage.users, storage.tokens, storage.signals, given=None)
        yield Crib(platform, create_app_for(platform), stack)


def problem_of(answer: httpx.Response) -> tuple[int, str, str | None]:
    """(status, code, where) of an error, once its form was checked."""
    body: dict[str, Any] = answer.json()
    assert answer.headers["content-type"] == "application/problem+json"
    assert {"type", "title", "status", "detail", "code"} <= body.keys()
    assert body["status"] == answer.status_code
    return answer.status_code, body["code"], body.get("where")
