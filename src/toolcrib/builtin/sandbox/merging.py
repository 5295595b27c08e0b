"""This module changes texts: one place, or by an edit that shows only what changes.

Such an edit has marks for what stays:

    def greet():
    # ... existing code ...
        return "hello"

A part of the edit begins and ends with lines of the file, which say where it goes: the lines
between them are replaced by the part. A part at the very beginning or end of the edit, without a
mark before or after it, goes to the beginning or end of the file.

Only "\\n" ends a line, so that nothing else of the file changes; where the file ends all of them
with "\\r\\n", what is put in does so too.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Mapping, Sequence

from toolcrib.errors import InvalidArguments

_MARK = re.compile(r"(#|//|--|;|/\*|<!--|%|\"|)\s*\.\.\.\s*existing code\s*\.\.\..*", re.IGNORECASE)
_Places = Mapping[str, Sequence[int]]
"""A line without its indentation → where it stands, in order."""


def replaced(text: str, old: str, new: str) -> str:
    """The text with one place of it exchanged. Raises InvalidArguments unless there is one."""
    if old not in text and _foreign(text):
        old, new = (part.replace("\r\n", "\n").replace("\n", "\r\n") for part in (old, new))
    times = text.count(old)
    if times != 1:
        what = "is not in it" if not times else f"is in it {times} times"
        raise InvalidArguments(
            f"Nothing was changed: the old text {what}.",
            hint="Give it exactly, with enough around it to be there once.",
        )
    return text.replace(old, new)


def merged(text: str, edit: str) -> str:
    """The text with the edit applied. Raises InvalidArguments that names the line not found."""
    foreign = _foreign(text)
    plain = text.replace("\r\n", "\n") if foreign else text
    made = "\n".join(_merged(_lines(plain), edit.replace("\r\n", "\n")))
    made += "\n" if text.endswith("\n") or not text else ""
    return made.replace("\n", "\r\n") if foreign else made


def _merged(lines: Sequence[str], edit: str) -> list[str]:
    parts, places = _parts(edit), _places(lines)
    if len(parts) == 1 and parts[0] == _lines(edit):
        raise InvalidArguments(
            "The edit has no mark for what stays, so it would replace the whole file.",
            hint="Write '... existing code ...' for what stays, or use full_file_rewrite.",
        )
    made: list[str] = []
    reached = 0
    for number, part in enumerate(parts):
        if not part:  # a mark at the edit's beginning or end
            continue
        begin = 0 if number == 0 else _find(places, part[0], reached)
        last = number == len(parts) - 1
        end = len(lines) if last else _find(places, part[-1], begin) + 1
        made += [*lines[reached:begin], *part]
        reached = end
    return [*made, *lines[reached:]]


def _foreign(text: str) -> bool:
    """Whether all lines end with "\\r\\n"."""
    return "\r\n" in text and text.count("\r\n") == text.count("\n")


def _lines(text: str) -> list[str]:
    return text.removesuffix("\n").split("\n") if text else []


def _places(lines: Sequence[str]) -> _Places:
    found: dict[str, list[int]] = {}
    for place, line in enumerate(lines):
        found.setdefault(line.strip(), []).append(place)
    return found


def _parts(edit: str) -> list[list[str]]:
    parts: list[list[str]] = [[]]
    for line in _lines(edit):
        if _MARK.fullmatch(line.strip()):
            parts.append([])
        else:
            parts[-1].append(line)
    return parts


def _find(places: _Places, line: str, start: int) -> int:
    """The only place of the line from `start` on, whatever its indentation."""
    known = places.get(line.strip(), ())
    first = bisect_left(known, start)
    number = len(known) - first
    if number == 1:
        return known[first]
    what = "is not in the file" if not number else f"is there {number} times"
    raise InvalidArguments(
        f"The edit cannot be placed: the line {line.strip()!r} {what} after what came before.",
        hint="Begin and end each part with a line that the file has once, or use str_replace.",
    )
