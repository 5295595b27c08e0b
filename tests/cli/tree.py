"""This module walks the tree of commands."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from toolcrib.cli.app import whole_tree

Command = Any


def commands() -> Iterator[tuple[str, Command]]:
    """Each command with the words that call it, `toolcrib` left out."""
    yield from _below(whole_tree(), ())


def examples(command: Command) -> list[str]:
    """The lines of a command's examples, without the prompt."""
    lines = (command.epilog or "").splitlines()
    return [line[2:].replace("\\[", "[") for line in lines if line.startswith("$ ")]


def _below(command: Command, words: tuple[str, ...]) -> Iterator[tuple[str, Command]]:
    inner = getattr(command, "commands", None)
    if inner is None:
        yield " ".join(words), command
        return
    for name, one in inner.items():
        yield from _below(one, (*words, name))
