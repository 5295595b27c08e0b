"""This module writes and reads `tools.lock`: which definitions of which tools are accepted.

The file is JSON in a stable order with a line for each value, so that a change of one tool is a
small change of the file, and every character that nobody sees is escaped.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

from toolcrib.catalog.characters import is_hidden
from toolcrib.catalog.pins import fingerprint_of_definition
from toolcrib.catalog.schema_diff import same
from toolcrib.catalog.schema_width import as_object
from toolcrib.errors import InvalidOptions, InvalidRequest
from toolcrib.tools.strict_json import read_strict_json

VERSION = 1
FILE = "tools.lock"
DriftKind = Literal["changed", "held", "new", "missing"]
SAYS: Mapping[DriftKind, str] = {
    "changed": "another definition is accepted than the lock names",
    "held": "a changed definition waits for a person",
    "new": "the lock does not name this tool",
    "missing": "the lock names it, and no source has it",
}
Locked = Mapping[str, Sequence["LockedTool"]]
"""By ref. A tool that shows different people different definitions has several."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LockedTool:
    fingerprint: str
    definition: Mapping[str, Any]

    def as_json(self) -> dict[str, Any]:
        return {"fingerprint": self.fingerprint, "definition": self.definition}


@dataclass(frozen=True, kw_only=True, slots=True)
class Seen:
    """What an installation has: a definition of a tool, accepted or held."""

    ref: str
    fingerprint: str
    state: str
    definition: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class Drift:
    """A tool that is not as the lock says. The definitions are the locked and the present one."""

    ref: str
    kind: DriftKind
    before: Mapping[str, Any] | None = None
    after: Mapping[str, Any] | None = None


def lock_of(seen: Iterable[Seen]) -> Locked:
    """The lock of what is accepted."""
    locked: dict[str, dict[str, LockedTool]] = {}
    for one in seen:
        if one.state == "accepted":
            tool = LockedTool(fingerprint=one.fingerprint, definition=one.definition)
            locked.setdefault(one.ref, {})[one.fingerprint] = tool
    return {ref: [locked[ref][key] for key in sorted(locked[ref])] for ref in sorted(locked)}


def write_lock(locked: Locked) -> str:
    """The file's text."""
    tools = {ref: [tool.as_json() for tool in locked[ref]] for ref in sorted(locked)}
    whole = {"version": VERSION, "tools": tools}
    text = json.dumps(whole, indent=2, ensure_ascii=False, sort_keys=True)
    return "".join(_escaped(c) if is_hidden(c) else c for c in text) + "\n"


def read_lock(text: str) -> Locked:
    """Raises InvalidRequest for what is no strict JSON, InvalidOptions with the place of what is
    wrong: a fingerprint that is not its definition's is refused."""
    whole = read_strict_json(text)
    if not isinstance(whole, dict) or set(cast("dict[str, Any]", whole)) != {"version", "tools"}:
        raise InvalidRequest(
            "This is no tools.lock: it has `version` and `tools`, and nothing else.",
            hint="Write one with `toolcrib lock export`.",
        )
    given = cast("dict[str, Any]", whole)
    if not same(given["version"], VERSION):
        raise InvalidOptions(f"The version {given['version']!r} is not known.", where="version")
    return read_tools(given["tools"])


def read_tools(tools: object) -> Locked:
    """The tools of a lock, by ref. Raises InvalidOptions."""
    if not isinstance(tools, Mapping):
        raise InvalidOptions("Must be an object of lists, by ref.", where="tools")
    return {
        ref: [_tool(one, f"tools.{ref}[{n}]") for n, one in enumerate(_listed(entries, ref))]
        for ref, entries in cast("Mapping[str, Any]", tools).items()
    }


def drift_of(locked: Locked, seen: Iterable[Seen]) -> list[Drift]:
    """Every tool that is not as the lock says, by ref."""
    found: list[Drift] = []
    present: dict[str, list[Seen]] = {}
    for one in seen:
        present.setdefault(one.ref, []).append(one)
    for ref in sorted({*locked, *present}):
        named = {tool.fingerprint: tool.definition for tool in locked.get(ref, ())}
        has = {one.fingerprint: one.definition for one in present.get(ref, ()) if _counts(one)}
        before = next((d for key, d in named.items() if key not in has), None)
        before = before or next(iter(named.values()), None)
        if has.keys() != named.keys():
            after = next((d for key, d in has.items() if key not in named), None)
            kind: DriftKind = "changed" if named and has else "new" if has else "missing"
            if kind != "missing" or not present.get(ref):
                found.append(Drift(ref=ref, kind=kind, before=before, after=after))
        found += [
            Drift(ref=ref, kind="held", before=before, after=one.definition)
            for one in present.get(ref, ())
            if one.state == "held"
        ]
    return found


def _counts(one: Seen) -> bool:
    return one.state == "accepted"


def _listed(entries: object, ref: str) -> list[Any]:
    if not isinstance(entries, list) or not entries:
        raise InvalidOptions("Must be a list of definitions.", where=f"tools.{ref}")
    return cast("list[Any]", entries)


def _tool(given: object, where: str) -> LockedTool:
    tool = as_object(given) or {}
    definition, fingerprint = tool.get("definition"), tool.get("fingerprint")
    known = as_object(definition)
    if set(tool) != {"definition", "fingerprint"} or known is None:
        raise InvalidOptions("Must be an object with fingerprint and definition.", where=where)
    if fingerprint != fingerprint_of_definition(known):
        raise InvalidOptions(
            "The fingerprint is not this definition's: one of the two was changed by hand.",
            where=f"{where}.fingerprint",
            hint="Write the file with `toolcrib lock export`.",
        )
    return LockedTool(fingerprint=str(fingerprint), definition=known)


def _escaped(character: str) -> str:
    return json.dumps(character)[1:-1]
