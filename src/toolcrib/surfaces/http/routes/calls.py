"""This module serves the journal."""

from __future__ import annotations

import re
from typing import Annotated, Any

from fastapi import Depends, Path, Query, Response

from toolcrib.surfaces.http.asking import (
    LARGEST_ID,
    FromOperator,
    TheCaller,
    TheDesk,
    router,
)
from toolcrib.surfaces.http.paging import Asked, page
from toolcrib.surfaces.http.shapes.calls import CallRow, call_row
from toolcrib.surfaces.http.shapes.fields import Moment, PageOf
from toolcrib.surfaces.http.writing import Json

routes = router("calls", "/api/v1/calls")
_CALL_ID = re.compile(r"call_[0-9a-f]{32}")
OneId = Annotated[int | None, Query(ge=1, le=LARGEST_ID)]


async def filters(
    agent: OneId = None,
    tool: Annotated[str | None, Query(max_length=512)] = None,
    user: OneId = None,
    success: bool | None = None,
    since: Annotated[Moment | None, Query()] = None,
) -> dict[str, Any]:
    return {
        "agent_id": agent,
        "tool": tool,
        "user_id": user,
        "success": success,
        "since": since,
    }


@routes.get("", response_model=PageOf[CallRow])
async def list_all(
    caller: TheCaller,
    desk: TheDesk,
    asked: Asked,
    chosen: Annotated[dict[str, Any], Depends(filters)],
    everything: FromOperator,
) -> Response:
    """Calls, newest first: your own, and for an admin those in their groups."""
    rows = await desk.calls.list(
        caller,
        **chosen,
        before=asked.after_text(_CALL_ID),
        limit=asked.wanted,
        everything=everything,
    )
    return Json(page(rows, asked, call_row, lambda row: row.call_id))


@routes.get("/{call_id}", response_model=CallRow)
async def show(
    call_id: Annotated[str, Path(max_length=64)],
    caller: TheCaller,
    desk: TheDesk,
    everything: FromOperator,
) -> Response:
    """One call."""
    return Json(call_row(await desk.calls.get(caller, call_id, everything=everything)))
