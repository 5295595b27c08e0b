"""This module reads the forms in which capabilities are given: rows, dicts, ids and codes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any, cast

from toolcrib.catalog.capabilities import TYPES, Capability
from toolcrib.errors import InvalidOptions

_UNSTORED = -(2**31)
"""Rows without an id get numbers from here, so that they keep the order they are given in."""
_FIELDS = tuple(one.name for one in fields(Capability))


@dataclass(frozen=True, kw_only=True, slots=True)
class Given:
    """One capability as it was given: by its id, by a code, or as a row that no store has."""

    id: int | None = None
    code: str | None = None
    row: Capability | None = None

    def __str__(self) -> str:
        if self.id is not None:
            return f"capability:{self.id}"
        return f"capability:{self.code if self.row is None else self.row.code}"


def read_given(value: object, place: int) -> Given:
    """Raises InvalidOptions for what is no capability. `place` is where in the list it stands."""
    where = f"capabilities[{place}]"
    if isinstance(value, str):
        return Given(code=value)
    if isinstance(value, int) and not isinstance(value, bool):
        return Given(id=value)
    values = _values(value)
    if not isinstance(values.get("code"), str):
        raise InvalidOptions(
            f"{type(value).__name__} is no capability: it has no code.",
            where=where,
            hint="Give a row, a dict with code and type, a code, or an id.",
        )
    row = _row(values, where, unstored=_UNSTORED + place)
    return Given(id=values.get("id"), row=row)


def row_of_code(code: str, place: int) -> Capability:
    """The row that a code stands for where there are none."""
    return Capability(id=_UNSTORED + place, name=code, code=code)


def _values(value: object) -> Mapping[str, Any]:
    if isinstance(value, Mapping):
        return cast("Mapping[str, Any]", value)
    return {name: getattr(value, name) for name in _FIELDS if hasattr(value, name)}


def _row(values: Mapping[str, Any], where: str, *, unstored: int) -> Capability:
    known = {name: values[name] for name in _FIELDS if values.get(name) is not None}
    kind = known.get("type", "internal")
    if kind not in TYPES:
        raise InvalidOptions(
            f"{kind!r} is no type of capability.",
            where=f"{where}.type",
            hint=f"Use {_listed(TYPES)}.",
        )
    options = known.get("options")
    if options is not None and not isinstance(options, Mapping):
        raise InvalidOptions("The options are not an object.", where=f"{where}.options")
    known.setdefault("name", known["code"])
    known.setdefault("id", unstored)
    if not isinstance(known["id"], int):
        raise InvalidOptions("The id is not a number.", where=f"{where}.id")
    return Capability(**known)


def _listed(words: Iterable[str]) -> str:
    return " or ".join(words)
