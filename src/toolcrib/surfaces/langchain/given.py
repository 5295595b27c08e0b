"""This module reads the forms in which capabilities are given: rows, dicts, ids and codes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, cast

from toolcrib.catalog.capabilities import ACCESS_TYPES, TYPES, Capability, split_codes
from toolcrib.errors import InvalidOptions

_UNSTORED = -(2**31)
"""Rows without an id get numbers from here, so that they keep the order they are given in."""
_WORDS: Mapping[str, Sequence[str]] = {"type": TYPES, "access_type": ACCESS_TYPES}
_KINDS: Mapping[str, type] = {"id": int, "name": str, "ordering": int, "options": Mapping}
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
    known: dict[str, Any] = {n: values[n] for n in _FIELDS if values.get(n) is not None}
    known = {"id": unstored, "name": known["code"], **known}
    if not split_codes(known["code"]):
        raise InvalidOptions("The code is empty.", where=f"{where}.code")
    for name, words in _WORDS.items():
        if known.get(name, words[0]) not in words:
            raise InvalidOptions(
                f"{known[name]!r} is no {name} of a capability.",
                where=f"{where}.{name}",
                hint=f"Use {' or '.join(words)}.",
            )
    for name, kind in _KINDS.items():
        if name in known and not isinstance(known[name], kind):
            found = type(known[name]).__name__
            raise InvalidOptions(f"The {name} cannot be {found}.", where=f"{where}.{name}")
    return Capability(**known)
