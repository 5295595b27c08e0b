"""This module holds the tree of commands. A noun is imported when it is asked for: what one command
does not need, it does not wait for."""

from __future__ import annotations

from importlib import import_module
from typing import Annotated, Any

import typer
import typer.main
from typer.core import TyperGroup

import toolcrib

HOMES = {
    "serve": "serve",
    "demo": "demo",
    "explain": "tools",
    "doctor": "doctor",
    "validate": "validate",
    "tools": "tools",
    "plugins": "plugins",
    "capabilities": "capabilities",
    "packages": "packages",
    "mcp": "mcp",
    "lock": "lock",
    "agents": "agents",
    "groups": "groups",
    "users": "users",
    "tokens": "tokens",
    "settings": "settings",
    "secrets": "secrets",
    "chats": "chats",
    "calls": "calls",
    "db": "db",
}
"""The module of each command, in the order of the help. The module holds it under its own name."""


class Tree(TyperGroup):
    """The root: it knows its commands by name and loads each once."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(HOMES)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in HOMES:
            self.load_all()  # so that what was meant can be suggested
        elif cmd_name not in self.commands:
            self.commands[cmd_name] = _loaded(cmd_name)
        return self.commands.get(cmd_name)

    def load_all(self) -> None:
        for name in HOMES:
            self.get_command(None, name)


def _loaded(name: str) -> Any:
    home = import_module(f"toolcrib.cli.{HOMES[name]}")
    made = typer.main.get_command(getattr(home, name))
    made.name = name
    return made


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"toolcrib {toolcrib.__version__}")
        raise typer.Exit


app = typer.Typer(
    name="toolcrib",
    cls=Tree,
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback()
def every_command(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """The tools of AI agents: registered once, granted, and called from everywhere."""


def whole_tree() -> Any:
    """The root with every command loaded, for pages and tests that walk it."""
    root: Any = typer.main.get_command(app)
    root.load_all()
    return root
