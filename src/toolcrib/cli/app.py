"""This module puts the nouns together to the tree of commands."""

from __future__ import annotations

from typing import Annotated

import typer

import toolcrib
from toolcrib.cli import tools
from toolcrib.cli.agents import agents
from toolcrib.cli.calls import calls
from toolcrib.cli.capabilities import capabilities
from toolcrib.cli.chats import chats
from toolcrib.cli.command import command, local_command, offline_command, plain_command
from toolcrib.cli.db import db
from toolcrib.cli.demo import demo
from toolcrib.cli.doctor import doctor
from toolcrib.cli.groups import groups
from toolcrib.cli.packages import packages
from toolcrib.cli.plugins import plugins
from toolcrib.cli.secrets import secrets
from toolcrib.cli.serve import serve
from toolcrib.cli.settings import settings
from toolcrib.cli.tokens import tokens
from toolcrib.cli.users import users
from toolcrib.cli.validate import validate


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"toolcrib {toolcrib.__version__}")
        raise typer.Exit


app = typer.Typer(
    name="toolcrib",
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


plain_command(app, "serve", "toolcrib serve", "toolcrib serve --port 9000 --workers 2")(serve)
plain_command(app, "demo", "toolcrib demo")(demo)
command(app, "explain", "toolcrib explain --agent 1 hello_greet", plugins=True)(tools.explain)
local_command(app, "doctor", "toolcrib doctor")(doctor)
offline_command(
    app,
    "validate",
    "toolcrib validate knowledge-search.json",
    "toolcrib validate weather.json knowledge-search-2.json",
)(validate)
for noun in (
    tools.tools,
    plugins,
    capabilities,
    packages,
    agents,
    groups,
    users,
    tokens,
    settings,
    secrets,
    chats,
    calls,
    db,
):
    app.add_typer(noun)
