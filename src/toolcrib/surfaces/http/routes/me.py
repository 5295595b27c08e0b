"""This module answers who the caller is."""

from __future__ import annotations

from toolcrib.surfaces.http.asking import TheCaller, TheDesk, router
from toolcrib.surfaces.http.shapes.me import MeRow

routes = router("me", "/api/v1")


@routes.get("/me")
async def show(caller: TheCaller, desk: TheDesk) -> MeRow:
    """Who the token is."""
    return MeRow.of(caller, await desk.users.get(caller, caller.user_id))
