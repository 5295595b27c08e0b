"""This module finds credentials that an author wrote into a package instead of a secret's name.

It goes by names (of headers, query parameters, fields, variables, options) and by the shapes of
well-known tokens. What it says never holds the value.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, Final
from urllib.parse import parse_qsl

from toolcrib.errors import InvalidOptions
from toolcrib.secrets.placeholders import SECRETS, joined, map_text
from toolcrib.sources.http.words import is_array, is_object
from toolcrib.tools.source import Finding

_EXACT: Final = frozenset({"authorization", "proxyauthorization", "cookie", "bearer", "passwd"})
_ENDINGS: Final = ("apikey", "token", "secret", "password", "privatekey", "secretkey", "accesskey")
_TOKEN: Final = re.compile(
    r"\bsk-[\w-]{16,}|\bgh[pousr]_\w{20,}|\bgithub_pat_\w{20,}|\bglpat-[\w-]{16,}"
    r"|\bxox[abprs]-[\w-]{10,}|\bAKIA[0-9A-Z]{16}\b|\bAIza[\w-]{30,}"
    r"|\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,}|-----BEGIN [A-Z ]*PRIVATE KEY-----",
    re.ASCII,
)
_SLOT: Final = re.compile(r"\{[^{}\s]+\}")
_HINT: Final = "store it as a secret and write its name, {{NAME}}."


def find_credentials(package: Mapping[str, Any]) -> list[Finding]:
    """A warning for each place that seems to hold a credential's value."""
    places = dict(_token_shapes(package))
    config = package.get("config")
    if is_object(config):
        places |= dict(_named(config))
    return [
        Finding(where=where, message=f"{what} {_HINT}", severity="warning")
        for where, what in places.items()
    ]


def _named(config: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for noun, key in (("header", "headers"), ("variable", "env")):
        yield from _members(config.get(key), f"config.{key}", noun)
    for key in ("static_body", "body_template"):
        yield from _fields(config.get(key), f"config.{key}")
    yield from _in_address(config.get("url"), "config.url")
    yield from _in_address(config.get("endpoint"), "config.endpoint")
    yield from _options(config.get("args"))


def _members(given: object, where: str, noun: str) -> Iterator[tuple[str, str]]:
    for name, value in given.items() if is_object(given) else ():
        if _is_credential(name) and _is_written_out(value):
            yield joined(where, name), f"The {noun} {name!r} holds its value:"


def _fields(given: object, where: str, depth: int = 0) -> Iterator[tuple[str, str]]:
    """Fields of a body at any depth; deeper than a package may nest is refused elsewhere."""
    if depth > 100:
        return
    if is_array(given):
        for number, item in enumerate(given):
            yield from _fields(item, f"{where}[{number}]", depth + 1)
    if is_object(given):
        yield from _members(given, where, "field")
        for name, value in given.items():
            yield from _fields(value, joined(where, name), depth + 1)


def _in_address(given: object, where: str) -> Iterator[tuple[str, str]]:
    if not isinstance(given, str):
        return
    before_path, _, rest = given.partition("://")[2].partition("/")
    user, at, _ = before_path.partition("@")
    if at and _is_written_out(user.partition(":")[2]):
        yield where, "The address holds a password:"
    query = (rest or before_path).partition("?")[2].partition("#")[0]
    for name, value in parse_qsl(query, keep_blank_values=True):
        if (_is_credential(name) or name == "key") and _is_written_out(value):
            yield where, f"The query parameter {name!r} holds its value:"


def _options(given: object) -> Iterator[tuple[str, str]]:
    """`--token VALUE` and `--token=VALUE` among the arguments of a command."""
    arguments = given if is_array(given) else []
    for number, argument in enumerate(arguments):
        if not isinstance(argument, str) or not argument.startswith("-"):
            continue
        name, equals, value = argument.partition("=")
        at = number if equals else number + 1
        value = value if equals else arguments[at] if at < len(arguments) else ""
        if _is_credential(name) and _is_written_out(value):
            yield f"config.args[{at}]", f"The option {name!r} holds its value:"


def _token_shapes(package: Mapping[str, Any]) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []

    def look(text: str, where: str) -> str:
        if _TOKEN.search(text):
            found.append((where, "This looks like a token:"))
        return text

    # What is nested too deep is refused by the reader of packages.
    with suppress(InvalidOptions):
        map_text(package, look)
    return found


def _is_credential(name: str) -> bool:
    plain = re.sub(r"[^a-z0-9]", "", name.lower())
    return plain in _EXACT or plain.endswith(_ENDINGS)


def _is_written_out(value: object) -> bool:
    """Text that is neither a secret's name nor an argument of the model."""
    return (
        isinstance(value, str)
        and bool(value.strip())
        and not SECRETS.pattern.search(value)
        and not _SLOT.search(value)
    )
