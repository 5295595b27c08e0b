"""This module declares what an open installation lends to tools, besides settings and documents.

Every service acts for the caller of the running call, with that caller's rights and no others;
outside a call, and outside a chat where one is needed, it raises NotGranted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from toolcrib.plugin.web import Web
    from toolcrib.tools.result import Output

Row = Mapping[str, Any]
"""What is known of a thing, as JSON."""
UNOPENED = (
    "Nothing of an installation can be reached from here: open_platform() is missing. "
    "Open the platform in this process before calling this tool."
)


class OwnChat(Protocol):
    """The chat that the call is from. A message is `{id, role, content, created_at}`."""

    async def say(self, text: str) -> int:
        """Add a message of the agent; its id."""
        ...

    async def message(self, message_id: int) -> Row:
        """Raises NotFound for a message that the chat does not have."""
        ...

    async def messages(self) -> Sequence[Row]:
        """All of them, oldest first."""
        ...

    async def rename(self, title: str) -> None: ...

    async def add_tools(self, names: Sequence[str]) -> Sequence[str]:
        """Note tool groups as loaded in the chat; all that are."""
        ...

    async def open_subchat(self, title: str) -> Row:
        """A new chat below this one, with the same agent: `{id, title}`."""
        ...

    async def subchats(self) -> Sequence[Row]:
        """`{id, title}` of the chats below this one."""
        ...

    async def send_to_subchat(self, chat_id: int, content: str) -> str:
        """Send as the user would; the reply. Raises NotFound, InvalidRequest."""
        ...

    async def tell_parent(self, text: str) -> int:
        """Add a message of the agent to the chat above; its id. Raises NotFound."""
        ...


class TaskList(Protocol):
    """The chat's task list. A task is `{id, section, content, status}`."""

    async def list(self) -> Sequence[Row]: ...

    async def add(self, section: str, contents: Sequence[str]) -> Sequence[Row]: ...

    async def update(
        self,
        ids: Sequence[int],
        *,
        content: str | None = None,
        status: str | None = None,
        section: str | None = None,
    ) -> Sequence[Row]:
        """All or none. Raises NotFound that names an id which the chat does not have."""
        ...

    async def delete(self, ids: Sequence[int]) -> None: ...

    async def clear(self) -> int:
        """How many there were."""
        ...


class Memories(Protocol):
    """What agents remember of the user: `{id, content, created_at}`."""

    async def list(self) -> Sequence[Row]: ...

    async def add(self, content: str) -> Row: ...

    async def delete(self, memory_id: int) -> bool: ...


class Files(Protocol):
    """The chat's documents: `{id, filename, mime_type, size}`."""

    async def list(self) -> Sequence[Row]: ...

    async def save(self, filename: str, mime_type: str, data: bytes) -> Row: ...


class OwnAgents(Protocol):
    """Agents within the caller's reach: `{id, name, model, system_prompt, capabilities, …}`."""

    async def current(self) -> Row:
        """The agent that the call came through."""
        ...

    async def list(self) -> Sequence[Row]:
        """`{id, name}` of those that the caller may use."""
        ...

    async def update(self, changes: Row) -> Row:
        """Change the current one. `capabilities`, if named, replaces what it holds.

        Raises NotGranted for what the caller may not change, InvalidOptions, Conflict.
        """
        ...

    async def create(self, draft: Row) -> Row:
        """Make one. It holds nothing that the caller could not give it. Raises as above."""
        ...


class OwnSettings(Protocol):
    """Settings of the caller's own."""

    async def put(self, name: str, value: str) -> Sequence[str]:
        """Store a value; what the caller should know about it. Raises InvalidRequest."""
        ...


class Toolbox(Protocol):
    """The tools of the agent that the call came through, as its caller sees them."""

    async def list(self) -> Sequence[Row]:
        """`{name, description, input_schema, kind, code}`."""
        ...

    async def call(self, name: str, arguments: Row) -> Output:
        """A call of its own, with the limits and the record of every call. Raises NotFound."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Lent:
    """`addresses` are the operator's: `serper` and `vapi`."""

    chats: OwnChat
    tasks: TaskList
    memories: Memories
    files: Files
    agents: OwnAgents
    settings: OwnSettings
    toolbox: Toolbox
    web: Web
    addresses: Mapping[str, str]
