"""This module serves logins at servers that want OAuth: begun, confirmed, listed and ended."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Path, Query

from toolcrib.desk.servers import REFS
from toolcrib.surfaces.http.asking import LARGEST_ID, NO_CONTENT, TheCaller, TheDesk, router
from toolcrib.surfaces.http.paging import Asked, page
from toolcrib.surfaces.http.shapes.connections import (
    BegunRow,
    ConfirmBody,
    ConnectionBody,
    ConnectionRow,
)
from toolcrib.surfaces.http.shapes.fields import PageOf

routes = router("connections", "/api/v1/mcp/connections")
Ref = Annotated[str, Path(description="`mcp:<capability id>` or `package:<slug>`", max_length=300)]


@routes.post("", status_code=201)
async def begin(body: ConnectionBody, caller: TheCaller, desk: TheDesk) -> BegunRow:
    """Begin a login, your own unless `group_id` says which group's: `url` is what you open.

    Nothing is connected by that alone: the page at the end shows a code, which you confirm. Who
    begins anew ends what they began there before.
    """
    return BegunRow.of(await desk.connections.begin(caller, body.ref, group_id=body.group_id))


@routes.post("/{ref}/confirm")
async def confirm(ref: Ref, body: ConfirmBody, caller: TheCaller, desk: TheDesk) -> ConnectionRow:
    """Make the login that you began, with the code that your browser shows at its end.

    It is good for five minutes and five tries; what is not confirmed is revoked.
    """
    made = await desk.connections.confirm(caller, ref, body.code, group_id=body.group_id)
    return ConnectionRow.of(made)


@routes.get("", response_model=PageOf[ConnectionRow])
async def list_all(caller: TheCaller, desk: TheDesk, asked: Asked) -> Any:
    """The servers of your capabilities and packages that want a login, and how it is; never a
    token. What belongs to one server is on one page, also past the limit."""
    after = asked.after_text(REFS) or ""
    found = await desk.connections.list(caller, after=after, limit=asked.wanted)
    rows = page(found, asked, lambda pair: map(ConnectionRow.of, pair[1]), lambda pair: pair[0])
    return {**rows, "items": [row for same in rows["items"] for row in same]}


@routes.delete("/{ref}", **NO_CONTENT)
async def disconnect(
    ref: Ref,
    caller: TheCaller,
    desk: TheDesk,
    group_id: Annotated[int | None, Query(ge=1, le=LARGEST_ID)] = None,
) -> None:
    """Forget a login and revoke it at its server, your own unless the query says which group's."""
    await desk.connections.disconnect(caller, ref, group_id=group_id)
