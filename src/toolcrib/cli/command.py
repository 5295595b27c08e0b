"""This module makes a command of a coroutine: the options that every command has, the place it
works on, the answer on stdout."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from toolcrib.cli.answers import Answer, show
from toolcrib.cli.environment import TOKEN, URL, read_settings, remote_url
from toolcrib.cli.signature import epilog, look_like
from toolcrib.errors import InvalidRequest

if TYPE_CHECKING:
    from toolcrib.cli.client import Client

Work = Callable[..., Awaitable[Answer]]
OpenClient = Callable[[], "AbstractAsyncContextManager[Client]"]
W = TypeVar("W", bound=Work)
P = TypeVar("P", bound=Callable[..., None])

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show where an error happened.")]
Url = Annotated[
    str | None,
    typer.Option("--url", envvar=URL, help="A server to speak to, instead of this installation."),
]
Token = Annotated[
    str | None, typer.Option("--token", envvar=TOKEN, help="The token for --url.", show_envvar=True)
]


@dataclass(frozen=True, slots=True)
class Common:
    """What stands behind every command; `url` and `token` where it can work on a server."""

    as_json: bool
    debug: bool
    url: str | None = None
    token: str | None = None


def group(name: str, summary: str) -> typer.Typer:
    """A noun. Its commands are the verbs."""
    return typer.Typer(
        name=name,
        help=summary,
        no_args_is_help=True,
        rich_markup_mode="rich",
        add_completion=False,
    )


def verb() -> typer.Typer:
    """A command without a noun."""
    return typer.Typer(rich_markup_mode="rich", add_completion=False)


def command(app: typer.Typer, name: str, *examples: str, plugins: bool = False) -> Callable[[W], W]:
    """A command that speaks REST: its coroutine takes a `Client` first.

    With `plugins` it waits until the plugins of this installation are loaded.
    """

    async def answer(work: Work, common: Common, given: dict[str, Any]) -> Answer:
        async with _client(common, plugins=plugins) as client:
            return await work(client, **given)

    options = {"as_json": AsJson, "url": Url, "token": Token, "debug": Debug}
    return _adder(app, name, examples, answer, options)


def local_command(
    app: typer.Typer, name: str, *examples: str, elsewhere: bool = False
) -> Callable[[W], W]:
    """A command for this installation alone: its coroutine takes the `Settings` first.

    With `elsewhere` it has nothing to do with an installation, so TOOLCRIB_URL does not matter.
    """

    async def answer(work: Work, common: Common, given: dict[str, Any]) -> Answer:
        if not elsewhere:
            require_here()
        from toolcrib.cli.logs import configure_errand  # noqa: PLC0415 - not for --help

        settings = read_settings()
        configure_errand(settings)
        return await work(settings, **given)

    return _adder(app, name, examples, answer, {"as_json": AsJson, "debug": Debug})


def offline_command(app: typer.Typer, name: str, *examples: str) -> Callable[[W], W]:
    """A command that needs no installation: its coroutine takes what would open a `Client`."""

    async def answer(work: Work, common: Common, given: dict[str, Any]) -> Answer:
        return await work(lambda: _client(common, plugins=False), **given)

    options = {"as_json": AsJson, "url": Url, "token": Token, "debug": Debug}
    return _adder(app, name, examples, answer, options)


def require_here() -> None:
    """Raises InvalidRequest when TOOLCRIB_URL says that another server is meant."""
    if url := remote_url():
        raise InvalidRequest(
            f"This command works on this machine's installation, and {URL} names {url!r}.",
            hint=f"Unset {URL}, or run the command where that server runs.",
        )


def plain_command(app: typer.Typer, name: str, *examples: str) -> Callable[[P], P]:
    """A function that shows what happens while it happens; it brings its own options."""

    def add(function: P) -> P:
        app.command(name, epilog=epilog(examples))(function)
        return function

    return add


Answering = Callable[[Work, Common, dict[str, Any]], Awaitable[Answer]]


def _adder(
    app: typer.Typer,
    name: str,
    examples: tuple[str, ...],
    answering: Answering,
    options: dict[str, Any],
) -> Callable[[W], W]:
    def add(work: W) -> W:
        def run(**given: Any) -> None:
            common = Common(**{key: given.pop(key) for key in options})
            answer = asyncio.run(_awaited(answering(work, common, given)))
            show(answer, as_json=common.as_json)
            if answer.exit_code:
                raise typer.Exit(answer.exit_code)

        look_like(run, work, options)
        app.command(name, epilog=epilog(examples))(run)
        return work

    return add


async def _awaited(answer: Awaitable[Answer]) -> Answer:
    return await answer


def _client(common: Common, *, plugins: bool) -> AbstractAsyncContextManager[Client]:
    if common.url:
        from toolcrib.cli.there import there  # noqa: PLC0415 - half a second less each way

        return there(common.url, common.token)
    from toolcrib.cli.here import here  # noqa: PLC0415

    return here(read_settings(), plugins=plugins)
