"""This module holds the commands for the database's tables: which revision, up, down."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from toolcrib.cli.answers import Answer, said
from toolcrib.cli.command import group, local_command
from toolcrib.cli.options import Yes, sure

if TYPE_CHECKING:
    from toolcrib.settings import Settings

db = group("db", "The tables: which revision they have, up and down.")


@local_command(db, "revision", "toolcrib db revision")
async def show_revision(settings: Settings) -> Answer:
    """Show the revision of the database and the one that this code needs."""
    from toolcrib.storage import HEAD, REVISIONS, revision  # noqa: PLC0415

    present = await revision(settings.database)
    data = {"database": database_of(settings), "revision": present, "newest": HEAD}
    if present == HEAD:
        return said(f"{data['database']} is at {HEAD}, the newest revision.", data)
    if present is not None and present not in REVISIONS:
        text = f"{data['database']} is at {present}, made by newer code; this code needs {HEAD}."
        return said(f"{text} toolcrib doctor says what to do.", data)
    state = f"at {present}" if present else "empty"
    text = f"{data['database']} is {state}; this code needs {HEAD}: toolcrib db upgrade."
    return said(text, data)


@local_command(db, "upgrade", "toolcrib db upgrade")
async def upgrade(
    settings: Settings, to: Annotated[str, typer.Option(help="A revision, or head.")] = "head"
) -> Answer:
    """Bring the tables to the newest revision. Starting a server does it too."""
    return await _changed(settings, to)


@local_command(db, "downgrade", "toolcrib db downgrade base --yes")
async def downgrade(
    settings: Settings,
    to: Annotated[str, typer.Argument(help="A revision, or base for no tables at all.")],
    yes: Yes = False,
) -> Answer:
    """Take the tables back, for an older Toolcrib; what only newer tables hold is lost."""
    sure(
        f"Take {database_of(settings)} down to {to} and lose what only newer tables hold?", yes=yes
    )
    return await _changed(settings, to)


async def _changed(settings: Settings, to: str) -> Answer:
    from toolcrib.storage import migrate, revision  # noqa: PLC0415

    before = await revision(settings.database)
    after = await migrate(settings.database, to)
    data: dict[str, Any] = {"database": database_of(settings), "before": before, "after": after}
    changed = "is at" if before == after else f"went from {before or 'empty'} to"
    return said(f"{data['database']} {changed} {after or 'empty'}.", data)


def database_of(settings: Settings) -> str:
    """The database's address without its password."""
    from toolcrib.storage.address import Address  # noqa: PLC0415

    return str(Address.of(settings.database))
