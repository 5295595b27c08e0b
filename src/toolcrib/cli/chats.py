"""This module holds the commands for chats: a person's conversations with an agent."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from toolcrib.cli.answers import Answer, listed, record, said, say
from toolcrib.cli.command import command, group
from toolcrib.cli.options import (
    AsUser,
    ContextJson,
    Cursor,
    InGroup,
    Limit,
    Yes,
    given,
    json_object,
    read_bytes,
    sure,
)
from toolcrib.cli.paths import path
from toolcrib.cli.tools import OfAgent

if TYPE_CHECKING:
    from rich.console import Console

    from toolcrib.cli.client import Client

chats = group("chats", "A person's conversations with an agent.")
ChatId = Annotated[int, typer.Argument(metavar="CHAT", help="The chat's id.")]


@command(chats, "list", "toolcrib chats list")
async def list_chats(
    client: Client, user: AsUser = None, limit: Limit = 50, cursor: Cursor = None
) -> Answer:
    """List a user's own chats."""
    client = client.acting(user=user)
    page = await client.get(path("chats"), limit=limit, cursor=cursor)
    return listed(page, "id", "agent_id", "group_id", "created_at", empty="There are no chats yet.")


@command(chats, "show", "toolcrib chats show 1")
async def show_chat(client: Client, chat_id: ChatId, user: AsUser = None) -> Answer:
    """Show a chat and the facts that runtime conditions read."""
    return record(await client.acting(user=user).get(path("chats", chat_id)))


@command(chats, "create", "toolcrib chats create --agent 1")
async def create_chat(
    client: Client,
    agent: OfAgent,
    context: ContextJson = None,
    user: AsUser = None,
    in_group: InGroup = None,
) -> Answer:
    """Begin a chat with an agent."""
    body = given(agent_id=agent, context=json_object(context, where="context"))
    client = client.acting(user=user, group=in_group)
    return record(await client.post(path("chats"), body))


@command(
    chats,
    "send",
    """toolcrib chats send 1 '@tool:hello_greet({"name": "Grace"})'""",
    plugins=True,
)
async def send_message(
    client: Client,
    chat_id: ChatId,
    content: Annotated[str, typer.Argument(help="The message.")],
    user: AsUser = None,
) -> Answer:
    """Send a message and show the reply. `@tool:name({...})` calls a tool without a model."""
    client = client.acting(user=user)
    reply = await client.post(path("chats", chat_id, "messages"), {"content": content})
    return Answer(data=reply, show=lambda console: _show_message(console, reply))


@command(chats, "messages", "toolcrib chats messages 1")
async def list_messages(
    client: Client,
    chat_id: ChatId,
    user: AsUser = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Answer:
    """List what was said."""
    client = client.acting(user=user)
    page = await client.get(path("chats", chat_id, "messages"), limit=limit, cursor=cursor)
    return listed(page, "created_at", "role", "content", empty="Nothing was said yet.")


@command(chats, "tasks", "toolcrib chats tasks 1")
async def list_tasks(client: Client, chat_id: ChatId, user: AsUser = None) -> Answer:
    """List the tasks that the chat's agent keeps."""
    page = await client.acting(user=user).get(path("chats", chat_id, "tasks"))
    return listed(page, "id", "section", "content", "status", empty="There are no tasks.")


@command(chats, "attach", "toolcrib chats attach 1 notes.txt")
async def attach_document(
    client: Client,
    chat_id: ChatId,
    file: Annotated[Path, typer.Argument(help="The file to hand over.")],
    user: AsUser = None,
) -> Answer:
    """Put a file into a chat, where its tools can read it."""
    files = {"file": (file.name, read_bytes(file, "file"))}
    client = client.acting(user=user)
    return record(await client.post(path("chats", chat_id, "documents"), files=files))


@command(chats, "delete", "toolcrib chats delete 1 --yes")
async def delete_chat(
    client: Client, chat_id: ChatId, user: AsUser = None, yes: Yes = False
) -> Answer:
    """Delete a chat with its messages and documents."""
    sure(f"Delete chat {chat_id} with all that is in it?", yes=yes)
    await client.acting(user=user).delete(path("chats", chat_id))
    return said(f"Chat {chat_id} is deleted.", {"id": chat_id, "deleted": True})


def _show_message(console: Console, message: dict[str, Any]) -> None:
    say(console, message["content"])
    for call in message["tool_calls"]:
        mark = "✓" if call["success"] else "✗"
        say(console, f"{mark} {call['name']}, call {call['call_id']}", style="dim")
