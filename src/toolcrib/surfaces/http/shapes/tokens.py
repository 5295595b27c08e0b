"""This module shapes tokens."""

from __future__ import annotations

from datetime import datetime

from toolcrib.surfaces.http.shapes.fields import Body, IdField, Mirror, Moment, Name


class TokenBody(Body):
    name: Name
    expires_at: Moment | None = None
    agent_id: IdField | None = None


class TokenRow(Mirror):
    id: str
    user_id: int
    name: str
    agent_id: int | None
    expires_at: datetime | None
    created_at: datetime


class NewTokenRow(TokenRow):
    """The only answer that ever shows the token itself."""

    token: str
