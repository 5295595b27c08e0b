"""This module shapes logins at servers: how they are, never what they hold."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from toolcrib.desk.connections import Begun, Connection
from toolcrib.surfaces.http.shapes.fields import LARGEST_ID, Body, Moment, Row

Status = Literal["connected", "expired", "needs_login", "failed"]


class ConnectionBody(Body):
    ref: Annotated[str, Field(max_length=300)]
    group_id: Annotated[int | None, Field(ge=1, le=LARGEST_ID)] = None


class ConfirmBody(Body):
    code: Annotated[str, Field(max_length=64)]
    """What the page at the end of the login shows."""
    group_id: Annotated[int | None, Field(ge=1, le=LARGEST_ID)] = None


class BegunRow(Row):
    ref: str
    status: Status
    url: str | None
    """What a person opens in a browser; None where nobody is needed."""
    open_until: Moment | None

    @classmethod
    def of(cls, begun: Begun) -> BegunRow:
        return cls(ref=begun.ref, status=begun.status, url=begun.url, open_until=begun.open_until)


class ConnectionRow(Row):
    ref: str
    label: str
    grant: str
    user_id: int | None
    group_id: int | None
    status: Status
    error: str | None
    issuer: str | None
    scopes: list[str]
    more_scopes: list[str]
    """What the server wanted besides for some call: log in again, and it is asked for too."""
    expires_at: Moment | None
    updated_at: Moment | None

    @classmethod
    def of(cls, one: Connection) -> ConnectionRow:
        return cls(
            ref=one.ref,
            label=one.label,
            grant=one.grant,
            user_id=one.user_id,
            group_id=one.group_id,
            status=one.status,
            error=one.error,
            issuer=one.issuer,
            scopes=list(one.scopes),
            more_scopes=list(one.more_scopes),
            expires_at=one.expires_at,
            updated_at=one.updated_at,
        )
