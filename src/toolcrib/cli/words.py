"""This module puts values into words for a terminal, and keeps foreign text from steering it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any, cast

Row = Mapping[str, Any]
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
_TIME = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}")


def printable(text: str) -> str:
    """The text without control characters, which could move the cursor, and half characters."""
    return _CONTROL.sub("\N{REPLACEMENT CHARACTER}", text)


def heading(key: str) -> str:
    return key.replace("_", " ")


def cell(value: Any) -> str:
    """A value of JSON in a few words."""
    match value:
        case None:
            return "-"
        case bool():
            return "yes" if value else "no"
        case str():
            return printable(_moment(value) if _TIME.match(value) else value)
        case float():
            return f"{value:g}"
        case []:
            return "-"
        case list():
            return ", ".join(cell(one) for one in cast("list[Any]", value))
        case dict():
            return printable(_sentence(cast("Row", value)))
        case _:
            return printable(str(value))


def _sentence(value: Row) -> str:
    """An error says itself; what else has parts is shown as it is."""
    if set(value) == {"code", "message"}:
        return str(value["message"])
    return json.dumps(value, ensure_ascii=False)


def _moment(text: str) -> str:
    """A time of day in this person's own clock."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return text
    return moment.astimezone().strftime("%Y-%m-%d %H:%M:%S")


def many(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
