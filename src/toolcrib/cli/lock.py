"""This module holds the commands for pins: what changed, who accepts it, and tools.lock."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from toolcrib.cli.answers import Answer, listed, said
from toolcrib.cli.command import command, group
from toolcrib.cli.exits import OK, SETUP
from toolcrib.cli.options import Yes, read_file, sure
from toolcrib.cli.paths import path
from toolcrib.cli.pin_words import as_row, checked, show_diffs
from toolcrib.errors import InvalidRequest

if TYPE_CHECKING:
    from toolcrib.catalog.lock import Seen
    from toolcrib.cli.client import Client

lock = group("lock", "Definitions of tools: what changed, who accepts it, and tools.lock.")
Ref = Annotated[str, typer.Argument(help="The tool: <kind>:<code>/<name>.")]
File = Annotated[Path, typer.Argument(help="A tools.lock; - is stdout.")]
Look = Annotated[
    bool, typer.Option(help="See every tool of every source first, connecting where need be.")
]
Fingerprint = Annotated[
    str | None, typer.Option(help="The definition that was looked at; without it the one shown.")
]
KeepOthers = Annotated[
    bool, typer.Option(help="Keep what was accepted before: people are shown different ones.")
]
COLUMNS = ("ref", "state", "how", "summary", "seen_at")
_ROOM = 512 * 1024
"""Bytes of a lock in one request."""


@command(lock, "status", "toolcrib lock status")
async def status(client: Client) -> Answer:
    """List the tools that are held until somebody accepts their definition."""
    held = await _pins(client, state="held")
    shown = {"items": [as_row(pin) for pin in held], "next_cursor": None}
    return replace(listed(shown, *COLUMNS, empty="Nothing is held."), data={**shown, "items": held})


@command(lock, "export", "toolcrib lock export tools.lock", "toolcrib lock export -", plugins=True)
async def export(client: Client, file: File = Path("tools.lock"), look: Look = True) -> Answer:
    """Write what is accepted to a file for version control."""
    from toolcrib.catalog.lock import lock_of, write_lock  # noqa: PLC0415 - `--help` does without

    locked = lock_of(await _seen(client, look=look))
    text = write_lock(locked)
    if str(file) == "-":
        return Answer(
            data={"file": None, "tools": len(locked), "lock": text},
            show=lambda console: console.out(text, end=""),
        )
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InvalidRequest(f"{str(file)!r} cannot be written: {error.strerror}.") from None
    data = {"file": str(file), "tools": len(locked)}
    return said(f"{file} names {len(locked)} tools.", data)


@command(lock, "check", "toolcrib lock check tools.lock", plugins=True)
async def check(client: Client, file: File, look: Look = True) -> Answer:
    """Compare the tools with a file. Ends with a code other than 0 when they differ, for CI."""
    from toolcrib.catalog.lock import drift_of, read_lock  # noqa: PLC0415

    locked = read_lock(read_file(file, "file"))
    drift = drift_of(locked, await _seen(client, look=look))
    return checked(drift, file, len(locked), exit_code=SETUP if drift else OK)


@command(lock, "diff", "toolcrib lock diff", "toolcrib lock diff native:hello/hello_greet")
async def diff(
    client: Client, ref: Annotated[str | None, typer.Argument(help="One tool; else all.")] = None
) -> Answer:
    """Show how held definitions differ from the accepted ones, hidden characters spelled out."""
    found = await _pins(client, state="held") if ref is None else await _held(client, ref)
    diffs = [
        await client.get(path("pins", pin["key"], "diff"), fingerprint=pin["fingerprint"])
        for pin in found
    ]
    return Answer(data={"items": diffs}, show=lambda console: show_diffs(console, diffs))


@command(lock, "accept", "toolcrib lock accept native:hello/hello_greet --yes")
async def accept(
    client: Client,
    ref: Ref,
    fingerprint: Fingerprint = None,
    keep_others: KeepOthers = False,
    yes: Yes = False,
) -> Answer:
    """Accept a held definition: the one that is shown, or the one named."""
    held = await _held(client, ref)
    chosen = [pin for pin in held if fingerprint in {None, pin["fingerprint"]}]
    if not chosen and fingerprint is None:
        return said(f"Nothing of {ref} waits: it is accepted.", {"ref": ref, "accepted": False})
    seen = fingerprint or chosen[0]["fingerprint"]
    where = path("pins", chosen[0]["key"] if chosen else ref)
    if not yes:
        from toolcrib.cli.answers import console  # noqa: PLC0415

        show_diffs(console(stderr=True), [await client.get(f"{where}/diff", fingerprint=seen)])
    sure(f"Accept this definition of {ref}?", yes=yes)
    pin = await client.post_if(f"{where}/accept", {"keep_others": keep_others}, match=seen)
    return said(f"{pin['ref']} is accepted as it is now.", pin)


@command(lock, "apply", "toolcrib lock apply tools.lock")
async def apply(client: Client, file: File) -> Answer:
    """Accept every definition that a file names, in place of those that it does not name."""
    from toolcrib.catalog.lock import drift_of, read_lock  # noqa: PLC0415

    locked = read_lock(read_file(file, "file"))
    drift = drift_of(locked, await _seen(client, look=False))
    wanted = sorted({one.ref for one in drift if one.ref in locked})
    accepted: list[str] = []
    unknown: list[str] = []
    for some in _portions({ref: [t.as_json() for t in locked[ref]] for ref in wanted}):
        done = await client.post(path("pins", "apply"), {"tools": some})
        accepted += done["accepted"]
        unknown += done["unknown"]
    text = f"{len(accepted)} tools are accepted as {file} names them."
    if unknown:
        text += f" No source here has {', '.join(unknown)}."
    return said(text, {"accepted": accepted, "unknown": unknown})


@command(lock, "lookalikes", "toolcrib lock lookalikes")
async def lookalikes(client: Client) -> Answer:
    """List tools that a person or a model may take for each other."""
    page = await client.get(path("pins", "lookalikes"))
    shown = [
        {**one, "tools": ", ".join(tool["ref"] for tool in one["tools"])} for one in page["items"]
    ]
    answer = listed({**page, "items": shown}, "says", "similarity", "tools", empty="None are.")
    return replace(answer, data=page)


@command(lock, "forget", "toolcrib lock forget native:hello/hello_greet --yes")
async def forget(client: Client, ref: Ref, yes: Yes = False) -> Answer:
    """Forget what was decided about a tool: what is seen next is a first sight again."""
    sure(f"Forget the pins of {ref}?", yes=yes)
    await client.delete(path("pins", ref))
    return said(f"The pins of {ref} are forgotten.", {"ref": ref, "forgotten": True})


async def _pins(client: Client, **query: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    cursor: str | None = None
    while True:
        page = await client.get(path("pins"), limit=200, cursor=cursor, **query)
        found += page["items"]
        cursor = page["next_cursor"]
        if cursor is None:
            return found


async def _held(client: Client, ref: str) -> list[dict[str, Any]]:
    pins = (await client.get(path("pins", ref)))["items"]
    return [pin for pin in pins if pin["state"] == "held"]


async def _seen(client: Client, *, look: bool) -> Sequence[Seen]:
    from toolcrib.catalog.lock import Seen  # noqa: PLC0415

    if look:
        await client.post(path("pins", "look"))
    wanted = ("ref", "fingerprint", "state", "definition")
    return [Seen(**{key: pin[key] for key in wanted}) for pin in await _pins(client)]


def _portions(tools: dict[str, Any]) -> list[dict[str, Any]]:
    """The tools in requests that a server takes."""
    import json  # noqa: PLC0415

    portions: list[dict[str, Any]] = [{}]
    room = _ROOM
    for ref, entries in tools.items():
        size = len(json.dumps({ref: entries}))
        if portions[-1] and size > room:
            portions.append({})
            room = _ROOM
        portions[-1][ref] = entries
        room -= size
    return [one for one in portions if one]
