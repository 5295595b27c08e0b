"""This module writes the reference page of the command line from the commands themselves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from toolcrib.cli.app import whole_tree
from toolcrib.cli.exits import MEANINGS

COMMON = {"--json", "--debug", "--url", "--token", "--help"}
OPENING = [
    "Commands work on the installation of this machine: the same database, with the operator's",
    "rights, whether a server runs or not. `--url` and `--token` speak to a server elsewhere.",
    "",
    "| Option of most commands | Meaning |",
    "|---|---|",
    "| `--json` | print JSON, for programs |",
    "| `--debug` | show where an error happened |",
    "| `--url`, or `TOOLCRIB_URL` | a server to speak to |",
    "| `--token`, or `TOOLCRIB_TOKEN` | the token for it |",
    "| `--help` | what the command does, with an example |",
]


def lines() -> list[str]:
    """The body of the page."""
    root = whole_tree()
    found = [*OPENING, "", *_endings()]
    for name, one in root.commands.items():
        found += ["", f"## toolcrib {name}", "", *_about(one)]
        for verb, command in getattr(one, "commands", {}).items():
            found += ["", f"### toolcrib {name} {verb}", "", *_about(command)]
    return found


def _endings() -> list[str]:
    """What the exit codes mean."""
    rows = [f"| {code} | {meaning} |" for code, meaning in MEANINGS.items()]
    return ["| A command ends with | when |", "|---|---|", *rows]


def _about(command: Any) -> list[str]:
    """What it does, its arguments and options, an example."""
    found = [" ".join(command.help.split())]
    rows = [] if hasattr(command, "commands") else list(_rows(command))
    if rows:
        found += ["", "| | |", "|---|---|", *rows]
    examples = [line for line in (command.epilog or "").splitlines() if line.startswith("$ ")]
    if examples:
        found += ["", "```console", *examples, "```"]
    return found


def _rows(command: Any) -> Iterator[str]:
    for param in command.params:
        if COMMON & set(param.opts):
            continue
        names = [*param.opts, *param.secondary_opts]
        argument = not names[0].startswith("-")
        shown = (param.name.upper() if argument else ", ".join(names)).strip("{}")
        need = " (required)" if param.required and not argument else ""
        yield f"| `{shown}`{need} | {' '.join((param.help or '').split()).replace('|', '&#124;')} |"
