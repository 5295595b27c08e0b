"""This module serves logins at servers that want OAuth: begun, listed and ended."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Path, Query

from toolcrib.surfaces.http.asking import LARGEST_ID, NO_CONTENT, TheCaller, TheDesk, router
from toolcrib.surfaces.http.paging import Asked, page
from toolcrib.surfaces.http.shapes.connections import BegunRow, ConnectionBody, ConnectionRow
from toolcrib.surfaces.http.shapes.fields import PageOf

routes = router("connections", "/api/v1/mcp/connections")
Ref = Annotated[str, Path(description="`mcp:<capability id>` or `package:<slug>`", max_length=300)]


@routes.post("", status_code=201)
async def begin(body: ConnectionBody, caller: TheCaller, desk: TheDesk) -> BegunRow:
    """Begin a login, your own unless `group_id` says which group's: `url` is what you open.

    The address is for you alone: whoever logs in there connects *their* account for you.
    """
    return BegunRow.of(await desk.connections.begin(caller, body.ref, group_id=body.group_id))


@routes.get("", response_model=PageOf[ConnectionRow])
async def list_all(caller: TheCaller, desk: TheDesk, asked: Asked) -> Any:
    """The servers of your capabilities that want a login, and how it is; never a token."""
    rows = await desk.connections.list(caller, after=asked.after_id(), limit=asked.wanted)
    return page(rows, asked, lambda row: ConnectionRow.of(row[1]), lambda row: row[0])


@routes.delete("/{ref}", **NO_CONTENT)
async def disconnect(
    ref: Ref,
    caller: TheCaller,
    desk: TheDesk,
    group_id: Annotated[int | None, Query(ge=1, le=LARGEST_ID)] = None,
) -> None:
    """Forget a login and revoke it at its server, your own unless the query says which group's."""
    await desk.connections.disconnect(caller, ref, group_id=group_id)
