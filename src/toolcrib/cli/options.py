"""This module holds the options and arguments that several commands share, and what reads them."""

from __future__ import annotations

import signal
import sys
from pathlib import Path
from typing import Annotated, Any, cast

import typer

from toolcrib.errors import InvalidRequest

Limit = Annotated[int, typer.Option(min=1, max=200, help="How many at most.")]
Cursor = Annotated[str | None, typer.Option(help="Where to go on: the last answer says it.")]
AsUser = Annotated[int | None, typer.Option("--user", help="Act for this user (an id).")]
InGroup = Annotated[int | None, typer.Option("--group", help="Act in this group (an id).")]
ContextJson = Annotated[
    str | None, typer.Option("--context", help='The chat\'s facts, such as {"page_type": "html"}.')
]
IfVersion = Annotated[
    int | None, typer.Option(help="Only if the row still has this version; otherwise a conflict.")
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]


def json_object(text: str | None, *, where: str) -> dict[str, Any] | None:
    """A JSON object from the command line, `@FILE` or `-` for stdin. Raises InvalidRequest."""
    if text is None:
        return None
    from toolcrib.tools.strict_json import read_strict_json  # noqa: PLC0415 - not for --help

    written = _given(text, where)
    try:
        value: Any = read_strict_json(written)
    except InvalidRequest as error:
        cause = error.message.removeprefix("Not strict JSON: ").rstrip(".")
        place = f" ({error.where})" if error.where else ""
        raise InvalidRequest(
            f"What was given as {where} is not JSON: {cause}{place}.",
            where=where,
            hint='Quote it for the shell, as in \'{"key": "value"}\'.',
        ) from None
    if not isinstance(value, dict):
        raise InvalidRequest(f"What was given as {where} is not a JSON object.", where=where)
    return cast("dict[str, Any]", value)


def _given(text: str, where: str) -> str:
    if text == "-":
        return sys.stdin.read()
    if not text.startswith("@"):
        return text
    return read_file(Path(text[1:]), where)


def read_file(file: Path, where: str) -> str:
    try:
        return read_bytes(file, where).decode()
    except UnicodeDecodeError:
        raise InvalidRequest(f"{str(file)!r} is not UTF-8 text.", where=where) from None


def read_bytes(file: Path, where: str) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise InvalidRequest(
            f"{str(file)!r} cannot be read: {error.strerror}.", where=where
        ) from None


def secret(what: str, file: Path | None) -> str:
    """A secret from a file, a prompt that does not echo, or stdin; never an argument, which other
    users of the machine could read in the list of processes."""
    if file is not None:
        return read_file(file, what).removesuffix("\n")
    if sys.stdin.isatty():
        return typer.prompt(what, hide_input=True, confirmation_prompt=True, err=True)
    return sys.stdin.read().removesuffix("\n")


def asked(what: str) -> str:
    """A line that a person types. Ctrl-C ends it at once: asyncio would only note the first."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return typer.prompt(what, err=True)
    finally:
        signal.signal(signal.SIGINT, before)


def given(**values: Any) -> dict[str, Any]:
    """The body of a request: what was said, without what was left out."""
    return {key: value for key, value in values.items() if value is not None}


def references(texts: list[str]) -> list[int | str]:
    """Capabilities: a number is an id, anything else a code."""
    return [int(text) if text.isdecimal() else text for text in texts]


def sure(question: str, *, yes: bool) -> None:
    """Ask a person; without a terminal `--yes` is needed. Raises InvalidRequest for a no."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise InvalidRequest(question, hint="Add --yes to say so without being asked.")
    typer.confirm(question, abort=True, err=True)
