"""This module tells what is missing to those who are no people: models, and clients of theirs.

A model takes what it reads for instructions. So it reads our words alone: where something is, and
of which kind its trouble is. A server that has no working tool here has no say in it either, not
by its errors and not by the names of its tools. People read the whole reason elsewhere.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from toolcrib.catalog.characters import visible
from toolcrib.resolution.toolset import Absence, Stage

LONGEST = 300
"""Characters of a reference, and of what a model is told."""
LONGEST_REASON = 1000
_ALWAYS: Mapping[Stage, str] = {
    "hold": "the definition changed or is new, and waits for a person to accept it",
    "name": "the name is taken by another tool",
}
"""Stages whose reasons name tools as their servers do."""


def briefly(absences: Iterable[Absence]) -> list[str]:
    """`place: why` for each, in words of ours; of a server's tools only how many there are."""
    counts: Counter[tuple[str, str]] = Counter()
    whole: set[tuple[str, str]] = set()
    for absence in absences:
        place, one = _place(absence)
        words = _ALWAYS.get(absence.stage) or absence.brief or absence.reason
        told = (place, shown(words.rstrip("."), LONGEST))
        counts[told] += 1
        if not one:
            whole.add(told)
    return [
        f"{place}: {words}" if (place, words) in whole else f"{place} ({_tools(count)}): {words}"
        for (place, words), count in counts.items()
    ]


def skips(absences: Iterable[Absence], *, most: int) -> list[dict[str, str]]:
    """`{ref, reason, fix}` of each with nothing hidden in it and none of it too long. What is
    missing as a whole comes first: no server's many bad tools hide that another is away."""
    listed = sorted(absences, key=lambda absence: _place(absence)[1])
    told = [
        {
            "ref": shown(one.ref, LONGEST),
            "reason": shown(one.reason, LONGEST_REASON),
            "fix": shown(one.fix, LONGEST_REASON),
        }
        for one in listed[:most]
    ]
    if len(listed) > most:
        told.append({"ref": "", "reason": f"and {len(listed) - most} more", "fix": ""})
    return told


def shown(text: str, longest: int) -> str:
    """The text on one line, with hidden characters spelled out, within so many characters."""
    seen = visible(" ".join(text[: 4 * longest].split()))
    return seen if len(seen) <= longest else f"{seen[: longest - 1]}…"


def _place(absence: Absence) -> tuple[str, bool]:
    """Where it is, and whether it is one tool of a server. Such a tool has a name that the server
    gave it: what is left is the server's."""
    source, slash, _ = absence.ref.partition("/")
    one = bool(slash) and source.startswith("mcp:")
    return shown(source if one else absence.ref, LONGEST), one


def _tools(count: int) -> str:
    return "1 tool" if count == 1 else f"{count} tools"
