"""This module holds `toolcrib doctor`: one look at everything that an operator can get wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolcrib.cli.answers import Answer, say, table
from toolcrib.cli.command import local_command, verb
from toolcrib.cli.exits import OK, SETUP
from toolcrib.cli.words import many

if TYPE_CHECKING:
    from rich.console import Console

    from toolcrib.cli.findings import Finding
    from toolcrib.settings import Settings


doctor = verb()


@local_command(doctor, "doctor", "toolcrib doctor")
async def look(settings: Settings) -> Answer:
    """Look at versions, data directory, database, keys, plugins, server and trusted addresses.

    Changes nothing. Ends with a code other than 0 when something is wrong."""
    from toolcrib.cli.examining import examine  # noqa: PLC0415

    findings = await examine(settings)
    problems = [one for one in findings if one.status == "problem"]
    return Answer(
        data={
            "items": [one.as_json() for one in findings],
            "problems": len(problems),
        },
        show=lambda console: _show(console, findings),
        exit_code=SETUP if problems else OK,
    )


def _show(console: Console, findings: list[Finding]) -> None:
    marks = {"ok": "✓", "note": "·", "problem": "✗"}
    rows = [{**one.as_json(), "": marks[one.status]} for one in findings]
    console.print(table(rows, "", "check", "detail", "fix"))
    problems = sum(one.status == "problem" for one in findings)
    if problems:
        say(console, f"{many(problems, 'problem')}.", style="red")
    else:
        say(console, "Nothing is wrong.")
