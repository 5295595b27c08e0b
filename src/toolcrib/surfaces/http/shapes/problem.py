"""This module describes the one form of every error."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict


class Problem(BaseModel):
    """RFC 9457. `code` is stable; `where` names the place in the request or document."""

    model_config = ConfigDict(extra="forbid")

    type: str
    title: str
    status: int
    detail: str
    code: str
    where: str | None = None
    hint: str | None = None
    current: dict[str, Any] | None = None
    """The row as it is now, where a change met another version."""


_CONTENT = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}


def _response(description: str) -> dict[str, Any]:
    return {"description": description, "content": _CONTENT}


RESPONSES: Mapping[int | str, dict[str, Any]] = {
    "4XX": _response("The request cannot be served: who must change what stands in it."),
    422: _response("A field cannot be used; `where` names it."),
    "5XX": _response("The installation or an upstream failed."),
}
"""What every route may answer besides its own."""
