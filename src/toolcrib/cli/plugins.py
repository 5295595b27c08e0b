"""This module holds the commands for plugins: list, try, reload, begin a new one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from toolcrib.cli.answers import Answer, listed, said, say
from toolcrib.cli.command import command, group, local_command
from toolcrib.cli.exits import OK, SETUP
from toolcrib.cli.paths import path
from toolcrib.cli.words import many

if TYPE_CHECKING:
    from rich.console import Console

    from toolcrib.cli.client import Client
    from toolcrib.settings import Settings

plugins = group("plugins", "Installed Python packages that bring tools.")
COLUMNS = ("name", "distribution", "version", "status", "codes", "error")
ELSEWHERE = (
    "So they load in this command. A running server was told: --url shows how it went there."
)
NONE = "No installed package announces tools. Begin one with: toolcrib plugins new NAME"


@command(plugins, "list", "toolcrib plugins list", plugins=True)
async def list_plugins(client: Client) -> Answer:
    """List the plugins with what each registered, or why it failed."""
    return listed(await client.get(path("plugins")), *COLUMNS, empty=NONE)


@command(plugins, "reload", "toolcrib plugins reload", plugins=True)
async def reload_plugins(client: Client) -> Answer:
    """Try failed plugins again and load new ones, in every running server."""
    answer = listed(await client.post(path("plugins", "reload")), *COLUMNS, empty=NONE)
    return answer if client.platform is None else replace(answer, show=_with_hint(answer))


@local_command(plugins, "check", "toolcrib plugins check", elsewhere=True)
async def check_plugins(
    settings: Settings,
    names: Annotated[list[str] | None, typer.Argument(help="Only plugins of these names.")] = None,
) -> Answer:
    """Load each plugin in a process of its own; fail and name it when one does not work.

    It needs no database, so it can stand in the build of an image."""
    from toolcrib.cli.trying import try_plugins  # noqa: PLC0415

    results = await try_plugins(settings, names or [])
    bad = [result for result in results if not result["ok"]]
    return Answer(
        data={"items": results, "failed": [result["name"] for result in bad]},
        show=lambda console: _show_check(console, results),
        exit_code=SETUP if bad else OK,
    )


@local_command(plugins, "new", "toolcrib plugins new weather", elsewhere=True)
async def new_plugin(
    settings: Settings,
    name: Annotated[str, typer.Argument(help="Lowercase letters, digits and underscores.")],
    into: Annotated[Path, typer.Option(help="The folder to make it in.")] = Path(),
) -> Answer:
    """Begin a plugin: a package with one tool, a README and tests that pass."""
    from toolcrib.cli.scaffolding import scaffold  # noqa: PLC0415

    made = scaffold(name, into)
    folder = str(made.folder)
    text = (
        f"Made {folder} with {many(len(made.files), 'file')}. Next:\n"
        f"  pip install -e {folder} pytest && pytest {folder}\n"
        "  toolcrib plugins check\n"
        "A server that runs must be started again to find it: `pip install -e` wants that once."
    )
    return said(text, {"folder": folder, "code": made.code, "files": made.files})


def _with_hint(answer: Answer) -> Callable[[Console], None]:
    def show(console: Console) -> None:
        answer.show(console)
        say(console, ELSEWHERE, style="dim")

    return show


def _show_check(console: Console, results: list[dict[str, Any]]) -> None:
    if not results:
        say(console, NONE)
    for result in results:
        mark, style = ("✓", "") if result["ok"] else ("✗", "red")
        what = f"{result['name']} ({result['distribution']} {result['version']})"
        say(console, f"{mark} {what}: {_summary(result)}", style=style)
        for skip in result["skipped"]:
            say(console, f"    {skip['ref']}: {skip['reason']}. {skip['fix']}")
        if not result["ok"] and result["output"]:
            say(console, "  It printed:", style="dim")
            say(console, "\n".join(f"    {line}" for line in result["output"][-40:]), style="dim")


def _summary(result: dict[str, Any]) -> str:
    if result["error"]:
        return str(result["error"])
    tools = [f"{code}: {', '.join(names) or 'no tools'}" for code, names in result["tools"].items()]
    trouble = f" ({many(len(result['skipped']), 'tool')} cannot be used)"
    return "; ".join(tools) + (trouble if result["skipped"] else "")
