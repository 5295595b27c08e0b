"""This module serves groups."""

from __future__ import annotations

from typing import Any

from fastapi import Response

from toolcrib.surfaces.http.asking import Id, TheCaller, TheDesk, router, versioned
from toolcrib.surfaces.http.paging import Asked, page
from toolcrib.surfaces.http.shapes.fields import PageOf
from toolcrib.surfaces.http.shapes.groups import GroupBody, GroupRow

routes = router("groups", "/api/v1/groups")


@routes.post("", status_code=201)
async def create(body: GroupBody, caller: TheCaller, desk: TheDesk, response: Response) -> GroupRow:
    """Make a group. Super-admins only."""
    group = await desk.groups.create(caller, name=body.name)
    versioned(response, group.version)
    return GroupRow.of(group)


@routes.get("", response_model=PageOf[GroupRow])
async def list_all(caller: TheCaller, desk: TheDesk, asked: Asked) -> Any:
    """The groups that you belong to; a super-admin sees all."""
    rows = await desk.groups.list(caller, after=asked.after_id(), limit=asked.wanted)
    return page(rows, asked, GroupRow.of, lambda row: row.id)


@routes.get("/{group_id}")
async def show(group_id: Id, caller: TheCaller, desk: TheDesk, response: Response) -> GroupRow:
    """One group."""
    group = await desk.groups.get(caller, group_id)
    versioned(response, group.version)
    return GroupRow.of(group)
