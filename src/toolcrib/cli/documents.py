"""This module reads the JSON documents that a person hands over: packages and capabilities."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any, cast

import typer

from toolcrib.cli.options import read_bytes
from toolcrib.errors import InvalidRequest

Source = Annotated[
    str, typer.Argument(metavar="FILE", help="A JSON file, - for stdin, or an https address.")
]


def is_address(source: str) -> bool:
    """Whether the document is somewhere else, for Toolcrib itself to fetch."""
    return source.startswith(("https://", "http://"))


def is_file(source: str) -> bool:
    """Whether this names a file rather than a code, which holds neither dots nor slashes."""
    return source == "-" or "." in source or "/" in source


def read_document(source: str) -> dict[str, Any]:
    """The object in a file or on stdin. Raises InvalidRequest with line and column."""
    from toolcrib.tools.strict_json import read_strict_json  # noqa: PLC0415 - `--help` does without

    name = "what came on stdin" if source == "-" else repr(source)
    data = sys.stdin.buffer.read() if source == "-" else read_bytes(Path(source), "file")
    try:
        document: Any = read_strict_json(data)
    except InvalidRequest as error:
        raise InvalidRequest(
            f"{name} cannot be read: {error.message}", where=error.where, hint=error.hint
        ) from None
    if not isinstance(document, dict):
        raise InvalidRequest(f"{name} is not a JSON object.", where="file")
    return cast("dict[str, Any]", document)
