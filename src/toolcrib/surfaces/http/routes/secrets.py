"""This module serves the installation's secrets: values go in, names and status come out."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Path, Response

from toolcrib.surfaces.http.asking import NO_CONTENT, TheCaller, TheDesk, router
from toolcrib.surfaces.http.paging import Asked, page
from toolcrib.surfaces.http.shapes.fields import PageOf
from toolcrib.surfaces.http.shapes.secrets import SecretBody, SecretRow

routes = router("secrets", "/admin/secrets")
Name = Annotated[str, Path(max_length=128)]


@routes.put("/{name}", **NO_CONTENT)
async def put(
    name: Name, body: SecretBody, caller: TheCaller, desk: TheDesk, response: Response
) -> None:
    """Store a value. What you should know about it comes back in `X-Toolcrib-Note`."""
    notes = await desk.secrets.put(caller, name, body.value, hosts=body.hosts)
    if notes:
        response.headers["X-Toolcrib-Note"] = " ".join(notes)


@routes.get("", response_model=PageOf[SecretRow])
async def list_all(caller: TheCaller, desk: TheDesk, asked: Asked) -> Any:
    """Names, hosts, status and who uses them; never a value."""
    rows = await desk.secrets.list(caller, after=asked.after_text() or "", limit=asked.wanted)
    return page(rows, asked, SecretRow.of, lambda row: row.info.name)


@routes.delete("/{name}", **NO_CONTENT)
async def delete(name: Name, caller: TheCaller, desk: TheDesk) -> None:
    await desk.secrets.delete(caller, name)
