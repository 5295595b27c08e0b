"""This module holds the rows of chats and messages, and the port they are kept behind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, Protocol

MessageRole = Literal["user", "assistant"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Chat:
    """A conversation of one user with one agent. `context` is stored without the environment."""

    id: int
    uuid: str
    user_id: int
    agent_id: int
    group_id: int | None = None
    context: Mapping[str, Any] = field(default_factory=dict[str, Any])
    created_at: datetime
    title: str = ""
    dynamic_tools: Sequence[str] = ()
    """Tool groups that were loaded in the chat by `initialize_tools`, in order."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Message:
    """One message. `tool_calls` are `{call_id, name, arguments, success, text}`."""

    id: int
    chat_id: int
    role: MessageRole
    content: str
    tool_calls: Sequence[Mapping[str, Any]] = ()
    created_at: datetime


class ChatStore(Protocol):
    async def create(
        self,
        *,
        uuid: str,
        user_id: int,
        agent_id: int,
        group_id: int | None,
        context: Mapping[str, Any],
    ) -> Chat: ...

    async def find(self, chat_id: int) -> Chat | None: ...

    async def list(
        self, user_id: int | None, *, agent_id: int | None = None, after: int = 0, limit: int = 200
    ) -> Sequence[Chat]:
        """Of one user, or of all."""
        ...

    async def delete(self, chat_id: int) -> bool: ...

    async def rename(self, chat_id: int, title: str) -> Chat:
        """Raises NotFound."""
        ...

    async def add_tools(self, chat_id: int, names: Sequence[str]) -> Chat:
        """Add to `dynamic_tools` what is not in it yet. Raises NotFound."""
        ...

    async def add_message(
        self,
        *,
        chat_id: int,
        role: MessageRole,
        content: str,
        tool_calls: Sequence[Mapping[str, Any]] = (),
    ) -> Message: ...

    async def messages(
        self, chat_id: int, *, after: int = 0, limit: int = 200
    ) -> Sequence[Message]: ...
