"""This module holds the commands for calls: the journal of what was done, by whom and how."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any

import typer

from toolcrib.cli.answers import Answer, listed, record, said
from toolcrib.cli.command import command, group, local_command
from toolcrib.cli.options import Cursor, Limit, Yes, sure
from toolcrib.cli.paths import path
from toolcrib.cli.words import many

if TYPE_CHECKING:
    from toolcrib.cli.client import Client
    from toolcrib.settings import Settings

calls = group("calls", "The journal: which tool was called, by whom, and how it went.")
COLUMNS = ("started_at", "call_id", "tool", "user_id", "agent_id", "success", "duration_ms")


@command(calls, "list", "toolcrib calls list", "toolcrib calls list --agent 1 --failed")
async def list_calls(
    client: Client,
    *,
    agent: Annotated[int | None, typer.Option(help="Of this agent.")] = None,
    tool: Annotated[str | None, typer.Option(help="Of this tool.")] = None,
    user: Annotated[int | None, typer.Option(help="By this user.")] = None,
    failed: Annotated[bool, typer.Option("--failed", help="Only those that failed.")] = False,
    since: Annotated[str | None, typer.Option(help="A UTC time, as in 2030-01-31.")] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Answer:
    """List calls, the newest first."""
    query: dict[str, Any] = {"success": False} if failed else {}
    query |= {"agent": agent, "tool": tool, "user": user, "since": since}
    page = await client.get(path("calls"), limit=limit, cursor=cursor, **query)
    return listed(page, *COLUMNS, empty="Nothing was called yet.", whole="call_id")


@command(calls, "show", "toolcrib calls show CALL_ID")
async def show_call(
    client: Client, call_id: Annotated[str, typer.Argument(help="As the list shows it.")]
) -> Answer:
    """Show one call with its masked arguments."""
    return record(await client.get(path("calls", call_id)))


@local_command(calls, "prune", "toolcrib calls prune --days 30 --yes")
async def prune_calls(
    settings: Settings,
    days: Annotated[int, typer.Option(min=1, help="Keep the calls of this many days.")],
    yes: Yes = False,
) -> Answer:
    """Delete old calls from the journal. A server does it by TOOLCRIB_JOURNAL_DAYS."""
    from toolcrib.cli.here import opened  # noqa: PLC0415 - `--help` does without
    from toolcrib.desk.operator import operator  # noqa: PLC0415

    sure(f"Delete the calls that are older than {many(days, 'day')}?", yes=yes)
    older_than = datetime.now(UTC) - timedelta(days=days)
    async with opened(settings) as platform:
        deleted = await platform.desk.calls.prune(operator(), older_than=older_than)
    return said(f"{many(deleted, 'call')} deleted.", {"deleted": deleted})
