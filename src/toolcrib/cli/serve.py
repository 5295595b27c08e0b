"""This module holds `toolcrib serve`: it prepares the installation, says where it can be reached,
and serves until it is stopped."""

from __future__ import annotations

import asyncio
import os
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from toolcrib.cli.answers import as_text, console, say
from toolcrib.cli.command import plain_command, verb
from toolcrib.cli.environment import read_settings
from toolcrib.cli.listening import address_of, is_loopback, listen
from toolcrib.cli.preparing import Prepared, prepare
from toolcrib.cli.program import this_program
from toolcrib.cli.stopping import Stop, end_at_once
from toolcrib.cli.whereabouts import told

if TYPE_CHECKING:
    import socket

    from toolcrib.settings import Settings


serve = verb()


@plain_command(serve, "serve", "toolcrib serve", "toolcrib serve --port 9000 --workers 2")
def start(
    host: Annotated[
        str | None, typer.Option(envvar="TOOLCRIB_HOST", help="The address to listen on.")
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(envvar="TOOLCRIB_PORT", min=0, max=65535, help="The port; 0: any free one."),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(envvar="TOOLCRIB_WORKERS", min=1, max=64, help="How many processes."),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the address and what was made as JSON.")
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Log everything; show where an error happened.")
    ] = False,
) -> None:
    """Start the server and keep it running; Ctrl-C stops it.

    The first start makes the database, the key for secrets and an admin token."""
    from toolcrib.cli.serving import run  # noqa: PLC0415 - `--help` does without

    end_at_once()
    settings = _settings(host, port, workers, debug=debug)
    with listen(settings.host, settings.port) as taken:
        prepared = asyncio.run(prepare(settings))
        stop = Stop()
        taken.listen(2048)
        address = address_of(taken)
        if as_json:
            sys.stdout.write(as_text(_facts(address, prepared)) + "\n")
        else:
            _announce(address, prepared, settings)
        _warn(taken, settings)
        sys.stdout.flush()
        with told(settings.data_dir, address):
            run(settings, taken, stop)


def _settings(host: str | None, port: int | None, workers: int | None, *, debug: bool) -> Settings:
    """The settings with the options over them; worker processes read the same environment."""
    level = "debug" if debug else None
    options = {"HOST": host, "PORT": port, "WORKERS": workers, "LOG_LEVEL": level}
    os.environ |= {f"TOOLCRIB_{key}": str(v) for key, v in options.items() if v is not None}
    return read_settings()


def _facts(address: str, prepared: Prepared) -> dict[str, Any]:
    return {
        "url": address,
        "database": prepared.database,
        "revision": prepared.revision,
        "new_key_file": prepared.new_key_file and str(prepared.new_key_file),
        "admin_token": prepared.admin_token,
    }


def _announce(address: str, prepared: Prepared, settings: Settings) -> None:
    out = console()
    say(out, f"· Database: {prepared.database}{_change(prepared)}")
    if prepared.new_key_file:
        say(out, f"· Made the key that secrets are sealed with: {prepared.new_key_file}")
        say(out, "  Keep a copy of it apart from the database's: without it they cannot be read.")
    if prepared.admin_token:
        say_token(prepared.admin_token, address)
    say(out, f"· Toolcrib is at {address}", style="bold")
    say(out, f"  The API describes itself at {address}/openapi.json (with a token)")
    if settings.public_url:
        say(out, f"  From outside: {settings.public_url}")
    if prepared.empty:
        say(out, f"  Nothing is in it yet. In another terminal: {this_program()} demo")


def say_token(token: str, address: str, *, stderr: bool = False) -> None:
    """The first admin token, in a box that leaves its line easy to copy."""
    from rich import box  # noqa: PLC0415
    from rich.panel import Panel  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    text = Text.assemble(
        (token, "bold"),
        "\n\nKeep it: it is shown this once and opens everything. Try it:\n",
        f'curl -H "Authorization: Bearer {token}" {address}/api/v1/users',
        "\nLost? Make another with: toolcrib tokens create 1 --name NAME",
    )
    title = "The admin token"
    out = console(stderr=stderr)
    out.print(Panel(text, title=title, box=box.HORIZONTALS, padding=(1, 0)), soft_wrap=True)


def _change(prepared: Prepared) -> str:
    if prepared.revision_before == prepared.revision:
        return ""
    if prepared.revision_before is None:
        return " (made)"
    return f" (brought from {prepared.revision_before} to {prepared.revision})"


def _warn(taken: socket.socket, settings: Settings) -> None:
    """Off loopback, tokens cross the network as they are unless a proxy takes care of it."""
    if is_loopback(taken) or settings.trusted_proxies:
        return
    text = (
        "⚠ This address can be reached from the network, without TLS: tokens could be read on the "
        "way. Put a proxy with TLS in front and name it in TOOLCRIB_TRUSTED_PROXIES, or listen "
        "on 127.0.0.1."
    )
    say(console(stderr=True), text, style="yellow")
