"""This module serves settings: values go in, names and status come out."""

from __future__ import annotations

import re
from typing import Annotated, Any

from fastapi import Path, Query, Response

from toolcrib.surfaces.http.asking import LARGEST_ID, NO_CONTENT, TheCaller, TheDesk, router
from toolcrib.surfaces.http.paging import Asked, page
from toolcrib.surfaces.http.shapes.fields import PageOf
from toolcrib.surfaces.http.shapes.settings import SettingBody, SettingRow

routes = router("settings", "/api/v1/settings")
Name = Annotated[str, Path(max_length=128)]
_PLACE = re.compile(r"[A-Za-z0-9_]{1,128}:(user|group):[1-9]\d{0,17}")
OwnerId = Annotated[int | None, Query(ge=1, le=LARGEST_ID)]


@routes.put("/{name}", **NO_CONTENT)
async def put(
    name: Name, body: SettingBody, caller: TheCaller, desk: TheDesk, response: Response
) -> None:
    """Store a value, your own unless `user_id` or `group_id` says whose.

    What you should know about the value comes back in `X-Toolcrib-Note`.
    """
    notes = await desk.settings.put(
        caller,
        name,
        body.value,
        user_id=body.user_id,
        group_id=body.group_id,
        hosts=body.hosts,
    )
    if notes:
        response.headers["X-Toolcrib-Note"] = " ".join(notes)


@routes.get("", response_model=PageOf[SettingRow])
async def list_all(
    caller: TheCaller,
    desk: TheDesk,
    asked: Asked,
    user_id: OwnerId = None,
    group_id: OwnerId = None,
) -> Any:
    """Names, owners and status of your settings and your groups'; never a value."""
    rows = await desk.settings.list(
        caller,
        after=asked.after_text(_PLACE) or "",
        limit=asked.wanted,
        user_id=user_id,
        group_id=group_id,
    )
    return page(rows, asked, SettingRow.of, lambda row: row.place)


@routes.delete("/{name}", **NO_CONTENT)
async def delete(
    name: Name,
    caller: TheCaller,
    desk: TheDesk,
    user_id: OwnerId = None,
    group_id: OwnerId = None,
) -> None:
    """Forget a value, your own unless the query says whose."""
    await desk.settings.delete(caller, name, user_id=user_id, group_id=group_id)
