"""This module checks what authors hand to a registration: codes and lists of tools."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, cast

from toolcrib.errors import InvalidOptions

_CODE = re.compile(r"[a-z][a-z0-9_]*")


def codes_of(*given: object) -> tuple[str, ...]:
    """Each code once, in order; a code may be a comma list. Raises InvalidOptions."""
    codes = [code for one in given for code in _split(one)]
    if not codes:
        raise InvalidOptions(
            "No code was given.", where="code", hint='Name one, as in register_tools("crm", [...]).'
        )
    for code in codes:
        if not _CODE.fullmatch(code):
            raise InvalidOptions(
                f"{code!r} cannot be a code.",
                where="code",
                hint="Use lowercase letters, digits and underscores, a letter first.",
            )
    return tuple(dict.fromkeys(codes))


def _split(given: object) -> list[str]:
    if not isinstance(given, str):
        raise InvalidOptions(
            f"A code is text, not {type(given).__name__}.",
            where="code",
            hint='Write @capability("crm") with a code, not @capability alone.',
        )
    return [part for part in (piece.strip() for piece in given.split(",")) if part]


def loose_codes(active: str | Iterable[str]) -> list[str]:
    """Codes to look up, comma lists split; nothing is refused, unknown ones just find nothing."""
    pieces = [active] if isinstance(active, str) else list(active)
    return list(dict.fromkeys(c.strip() for p in pieces for c in p.split(",") if c.strip()))


def tools_of(tools: object) -> tuple[Any, ...]:
    """The objects to register: a list's items, or the one object given.

    Raises InvalidOptions for None and for a mapping: neither can be meant. Items of a tool that
    is iterable itself (a pydantic model is) are not looked at.
    """
    if tools is None or isinstance(tools, Mapping):
        kind = type(cast("object", tools)).__name__
        raise InvalidOptions(
            f"Tools are given as a list, not as {kind}.",
            where="tools",
            hint='Write register_tools("crm", [first_tool, second_tool]).',
        )
    if isinstance(tools, str | bytes | bytearray):
        return (tools,)
    if isinstance(tools, Sequence | set | frozenset | Iterator):
        return tuple(cast("Iterable[Any]", tools))
    return (tools,)


def text_of(value: object, field: str) -> str:
    """A name or description; None counts as not given. Raises InvalidOptions."""
    if value is None:
        return ""
    if not isinstance(value, str):
        raise InvalidOptions(
            f"The {field} of a code is text, not {type(value).__name__}.", where=field
        )
    return storable(value)


def storable(text: str) -> str:
    """The text with a question mark for each half of a surrogate pair, which no answer holds."""
    return text.encode(errors="replace").decode()
