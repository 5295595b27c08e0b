"""This module shapes the caller's answer about themselves."""

from __future__ import annotations

from typing import Self

from toolcrib.identity.accounts import User
from toolcrib.identity.caller import Caller
from toolcrib.surfaces.http.shapes.fields import Row
from toolcrib.surfaces.http.shapes.users import RoleName


class MeRow(Row):
    """Who the token is, and for which group and agent it speaks."""

    user_id: int
    name: str
    role: RoleName
    group_ids: list[int]
    entitlements: list[str]
    group_id: int | None
    agent_id: int | None

    @classmethod
    def of(cls, caller: Caller, user: User) -> Self:
        return cls(
            user_id=caller.user_id,
            name=user.name,
            role=caller.role.value,
            group_ids=sorted(caller.group_ids),
            entitlements=sorted(caller.entitlements),
            group_id=caller.group_id,
            agent_id=caller.agent_id,
        )
