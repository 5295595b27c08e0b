"""This module applies an edit that shows only what changes, between marks for what stays.

    def greet():
    # ... existing code ...
        return "hello"

A part of the edit begins and ends with lines of the file, which say where it goes: the lines
between them are replaced by the part. A part at the very beginning or end of the edit, without a
mark before or after it, goes to the beginning or end of the file.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from toolcrib.errors import InvalidArguments

_MARK = re.compile(
    r"\s*(#|//|--|;|/\*|<!--|%|\"|)\s*\.\.\.\s*existing code\s*\.\.\..*", re.IGNORECASE
)


def merged(text: str, edit: str) -> str:
    """The text with the edit applied. Raises InvalidArguments that names the line not found."""
    lines, parts = text.splitlines(), _parts(edit)
    if len(parts) == 1 and parts[0] == edit.splitlines():
        raise InvalidArguments(
            "The edit has no mark for what stays, so it would replace the whole file.",
            hint="Write '... existing code ...' for what stays, or use full_file_rewrite.",
        )
    made: list[str] = []
    reached = 0
    for number, part in enumerate(parts):
        if not part:  # a mark at the edit's beginning or end
            continue
        begin = 0 if number == 0 else _find(lines, part[0], reached)
        last = number == len(parts) - 1
        end = len(lines) if last else _find(lines, part[-1], begin) + 1
        made += [*lines[reached:begin], *part]
        reached = end
    made += lines[reached:]
    return "\n".join(made) + ("\n" if text.endswith("\n") or not text else "")


def _parts(edit: str) -> list[list[str]]:
    parts: list[list[str]] = [[]]
    for line in edit.splitlines():
        if _MARK.fullmatch(line):
            parts.append([])
        else:
            parts[-1].append(line)
    return parts


def _find(lines: Sequence[str], line: str, start: int) -> int:
    """The only place of the line from `start` on, whatever its indentation."""
    found = [i for i in range(start, len(lines)) if lines[i].strip() == line.strip()]
    if len(found) == 1:
        return found[0]
    what = "is not in the file" if not found else f"is there {len(found)} times"
    raise InvalidArguments(
        f"The edit cannot be placed: the line {line.strip()!r} {what} after what came before.",
        hint="Begin and end each part with a line that the file has once, or use str_replace.",
    )
