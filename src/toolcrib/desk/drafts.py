"""This module checks a capability before it is stored: every refusal names the field."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, Protocol

from toolcrib.catalog.capabilities import (
    ACCESS_TYPES,
    TYPES,
    Capability,
    CapabilityDraft,
    checked_code,
    split_codes,
)
from toolcrib.desk.checking import checked_name
from toolcrib.errors import InvalidOptions, InvalidRequest
from toolcrib.identity.caller import Caller
from toolcrib.tools.source import Finding


class Definitions(Protocol):
    """Reads the definitions of one kind, and says what is wrong with them and where."""

    def check(self, definition: Mapping[str, Any]) -> Sequence[Finding]: ...


CapabilityKinds = Mapping[str, Definitions | None]
"""The types that have a source here; None for Python tools, which have no options to check."""

MAX_ORDERING = 2**31 - 1
_ROW = frozenset(field.name for field in fields(CapabilityDraft)) - {"extra"}


def checked_draft(
    draft: CapabilityDraft, caller: Caller, *, kinds: CapabilityKinds
) -> CapabilityDraft:
    """The draft in its stored form, a private one owned by the caller.

    `kinds` are the types that have a source in this installation. Raises InvalidOptions, with
    the path inside the options where it is there.
    """
    _check_type(draft, kinds)
    _check_access(draft, caller)
    if abs(draft.ordering) > MAX_ORDERING:
        raise InvalidOptions("The ordering is out of range.", where="ordering")
    try:
        name = checked_name(draft.name)
    except InvalidRequest as error:
        raise InvalidOptions(error.message, where="name") from None
    checked = replace(
        draft,
        name=name,
        code=checked_code(draft.code),
        owner_id=caller.user_id if draft.access_type == "private" else None,
    )
    _check_options(checked, kinds[checked.type])
    return checked


def changed_draft(row: Capability, changes: Mapping[str, Any]) -> CapabilityDraft:
    """The row as a draft with the changes in it; another access_type starts without an owner.

    Raises InvalidOptions for a field that cannot be changed.
    """
    for name in changes:
        if name not in _ROW - {"owner_id"}:
            raise InvalidOptions(f"The field {name!r} cannot be changed.", where=name)
    draft = CapabilityDraft(**{name: getattr(row, name) for name in _ROW})
    if changes.get("access_type", row.access_type) != row.access_type:
        draft = replace(draft, group_id=None, owner_id=None)
    return replace(draft, **changes)


def definition_of(draft: CapabilityDraft) -> dict[str, Any]:
    """A capability's own fields, as the kind of its type reads them."""
    return {
        "code": split_codes(draft.code)[0],
        "name": draft.name,
        "description": draft.description,
        "options": draft.options,
    }


def _check_options(draft: CapabilityDraft, kind: Definitions | None) -> None:
    for finding in kind.check(definition_of(draft)) if kind else ():
        if finding.severity == "error":
            raise InvalidOptions(finding.message, where=finding.where)


def _check_type(draft: CapabilityDraft, types: Collection[str]) -> None:
    if draft.type not in TYPES:
        raise InvalidOptions(
            f"{draft.type!r} is not a type of capability.",
            where="type",
            hint=f"Use one of: {', '.join(TYPES)}.",
        )
    if draft.type not in types:
        raise InvalidOptions(
            f"This installation has no source for capabilities of type {draft.type!r}.",
            where="type",
            hint=f"There is: {', '.join(sorted(types))}.",
        )
    if draft.type == "internal" and draft.options is not None:
        raise InvalidOptions(
            "A capability of type 'internal' has no options: its tools are registered in Python.",
            where="options",
            hint="Leave options out, or set them to null.",
        )
    if draft.type != "internal" and draft.options is None:
        raise InvalidOptions(f"A capability of type {draft.type!r} needs options.", where="options")


def _check_access(draft: CapabilityDraft, caller: Caller) -> None:
    if draft.access_type not in ACCESS_TYPES:
        raise InvalidOptions(
            f"{draft.access_type!r} is not an access_type.",
            where="access_type",
            hint=f"Use one of: {', '.join(ACCESS_TYPES)}.",
        )
    if draft.access_type == "group" and draft.group_id is None:
        raise InvalidOptions("access_type 'group' needs a group_id.", where="group_id")
    if draft.access_type != "group" and draft.group_id is not None:
        raise InvalidOptions(
            f"access_type {draft.access_type!r} takes no group_id.",
            where="group_id",
            hint="Leave group_id out, or use access_type 'group'.",
        )
    if draft.owner_id is not None and (
        draft.access_type != "private" or draft.owner_id != caller.user_id
    ):
        raise InvalidOptions(
            "Only a private capability has an owner, and that is whoever makes it.",
            where="owner_id",
        )
