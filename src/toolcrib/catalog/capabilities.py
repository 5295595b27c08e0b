"""This module holds the capability: the row that puts a code's tools within somebody's reach."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, Protocol, get_args

from toolcrib.errors import InvalidOptions

CapabilityType = Literal["internal", "mcp", "api"]
AccessType = Literal["system", "group", "user", "private"]
TYPES: tuple[str, ...] = get_args(CapabilityType)
ACCESS_TYPES: tuple[str, ...] = get_args(AccessType)

CODE = re.compile(r"^[a-z][a-z0-9_]*$")
MAX_CODE = 255


@dataclass(frozen=True, kw_only=True, slots=True)
class Capability:
    """A capability row. Frozen: an update is a new row of the next version."""

    id: int
    name: str
    code: str
    """One code, or several separated by commas."""
    type: CapabilityType = "internal"
    options: Mapping[str, Any] | None = None
    description: str = ""
    is_default: bool = False
    """Attached to new agents."""
    ordering: int = 0
    access_type: AccessType = "user"
    group_id: int | None = None
    owner_id: int | None = None
    archived: bool = False
    help: str = ""
    help_url: str = ""
    version: int = 1
    created_at: datetime | None = None
    updated_at: datetime | None = None

    @property
    def codes(self) -> tuple[str, ...]:
        return split_codes(self.code)


@dataclass(frozen=True, kw_only=True, slots=True)
class CapabilityDraft:
    """A capability that is not stored yet."""

    name: str
    code: str
    type: CapabilityType = "internal"
    options: Mapping[str, Any] | None = None
    description: str = ""
    is_default: bool = False
    ordering: int = 0
    access_type: AccessType = "user"
    group_id: int | None = None
    owner_id: int | None = None
    help: str = ""
    help_url: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict[str, Any])


class CapabilityStore(Protocol):
    """Capability rows. Everything here is unfiltered: authority is decided before the store."""

    async def create(self, draft: CapabilityDraft) -> Capability:
        """Raises Conflict when a live row has this (code, access_type, group or owner)."""
        ...

    async def find(self, capability_id: int) -> Capability | None: ...

    async def find_many(self, ids: Sequence[int]) -> Sequence[Capability]: ...

    async def list(
        self,
        *,
        reach: Reach,
        code: str | None = None,
        archived: bool = False,
        after: int = 0,
        limit: int = 200,
    ) -> Sequence[Capability]:
        """Rows within the reach, by id. With `code`, rows whose codes include it."""
        ...

    async def defaults(self, *, group_id: int | None, owner_id: int | None) -> Sequence[Capability]:
        """Live `is_default` rows that an agent of this group (or this owner) may hold."""
        ...

    async def update(
        self,
        capability_id: int,
        changes: Mapping[str, Any],
        *,
        expected_version: int | None = None,
        released_by: int | None = None,
    ) -> Capability:
        """Raises NotFound, or Conflict with the current row when the version differs.

        `released_by`: in the same moment the pins of its tools are released in this user's name.
        """
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Reach:
    """Whose rows a list covers: `system` and `user` rows always, and these groups and owner.

    `every_group` is the super-admin's. Private rows are their owner's alone. With `agent_id` only
    the rows of these that this agent holds.
    """

    group_ids: frozenset[int] = frozenset()
    owner_id: int | None = None
    every_group: bool = False
    everything: bool = False
    """The operator at the command line: private rows too."""
    agent_id: int | None = None


def split_codes(code: str) -> tuple[str, ...]:
    """The codes of a comma list, spaces trimmed, empties and repeats dropped, order kept."""
    return tuple(dict.fromkeys(part.strip() for part in code.split(",") if part.strip()))


def checked_code(code: str, *, where: str = "code") -> str:
    """The comma list in its stored form. Raises InvalidOptions for one that is not a code."""
    codes = split_codes(code)
    if not codes:
        raise InvalidOptions("The code is empty.", where=where, hint="Give at least one code.")
    for one in codes:
        if not CODE.match(one):
            raise InvalidOptions(
                f"{one!r} is not a code.",
                where=where,
                hint="A code starts with a-z and holds only a-z, 0-9 and underscores.",
            )
    joined = ",".join(codes)
    if len(joined) > MAX_CODE:
        raise InvalidOptions(f"The codes are longer than {MAX_CODE} characters.", where=where)
    return joined
