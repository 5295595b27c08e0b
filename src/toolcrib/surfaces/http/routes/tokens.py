"""This module serves the tokens of a user."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Path

from toolcrib.surfaces.http.asking import NO_CONTENT, Id, TheCaller, TheDesk, router
from toolcrib.surfaces.http.paging import AskedWhole, whole
from toolcrib.surfaces.http.shapes.fields import PageOf
from toolcrib.surfaces.http.shapes.tokens import NewTokenRow, TokenBody, TokenRow

routes = router("tokens", "/api/v1/users/{user_id}/tokens")
TokenId = Annotated[str, Path(max_length=64)]


@routes.post("", status_code=201)
async def create(user_id: Id, body: TokenBody, caller: TheCaller, desk: TheDesk) -> NewTokenRow:
    """A new token, shown this once. With `agent_id` it reaches that agent only."""
    token, made = await desk.tokens.create(
        caller,
        user_id=user_id,
        name=body.name,
        expires_at=body.expires_at,
        agent_id=body.agent_id,
    )
    return NewTokenRow(**TokenRow.of(token).model_dump(), token=made.text)


@routes.get("", response_model=PageOf[TokenRow])
async def list_all(user_id: Id, caller: TheCaller, desk: TheDesk, asked: AskedWhole) -> Any:
    """The user's tokens, oldest first, without the tokens themselves."""
    rows = await desk.tokens.list(caller, user_id=user_id)
    return whole([TokenRow.of(row) for row in rows], asked)


@routes.delete("/{token_id}", **NO_CONTENT)
async def revoke(user_id: Id, token_id: TokenId, caller: TheCaller, desk: TheDesk) -> None:
    """The token stops working at once; in other processes within a second, with Redis at once."""
    await desk.tokens.revoke(caller, user_id=user_id, token_id=token_id)
