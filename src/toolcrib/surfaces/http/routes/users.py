"""This module serves users."""

from __future__ import annotations

from typing import Any

from fastapi import Response

from toolcrib.identity.roles import Role
from toolcrib.surfaces.http.asking import (
    NO_CONTENT,
    Id,
    TheCaller,
    TheDesk,
    Version,
    router,
    versioned,
)
from toolcrib.surfaces.http.paging import Asked, page
from toolcrib.surfaces.http.shapes.fields import PageOf
from toolcrib.surfaces.http.shapes.users import PasswordBody, UserBody, UserPatch, UserRow

routes = router("users", "/api/v1/users")


@routes.post("", status_code=201)
async def create(body: UserBody, caller: TheCaller, desk: TheDesk, response: Response) -> UserRow:
    """Make a user. Super-admins only."""
    user = await desk.users.create(
        caller,
        name=body.name,
        role=Role(body.role),
        group_ids=body.group_ids,
        entitlements=body.entitlements,
        password=body.password,
    )
    versioned(response, user.version)
    return UserRow.of(user)


@routes.get("", response_model=PageOf[UserRow])
async def list_all(caller: TheCaller, desk: TheDesk, asked: Asked) -> Any:
    """Yourself; for an admin also the members of their groups, for a super-admin everybody."""
    rows = await desk.users.list(caller, after=asked.after_id(), limit=asked.wanted)
    return page(rows, asked, UserRow.of, lambda row: row.id)


@routes.get("/{user_id}")
async def show(user_id: Id, caller: TheCaller, desk: TheDesk, response: Response) -> UserRow:
    """One user."""
    user = await desk.users.get(caller, user_id)
    versioned(response, user.version)
    return UserRow.of(user)


@routes.patch("/{user_id}")
async def change(
    user_id: Id,
    body: UserPatch,
    caller: TheCaller,
    desk: TheDesk,
    version: Version,
    response: Response,
) -> UserRow:
    """Change role, groups or entitlements. Super-admins only; one of them always stays."""
    given = body.model_fields_set
    user = await desk.users.update(
        caller,
        user_id,
        role=Role(body.role) if "role" in given else None,
        group_ids=body.group_ids if "group_ids" in given else None,
        entitlements=body.entitlements if "entitlements" in given else None,
        expected_version=version,
    )
    versioned(response, user.version)
    return UserRow.of(user)


@routes.put("/{user_id}/password", **NO_CONTENT)
async def set_password(user_id: Id, body: PasswordBody, caller: TheCaller, desk: TheDesk) -> None:
    """Your own password; a super-admin sets anybody's."""
    await desk.users.set_password(caller, user_id, body.password)
