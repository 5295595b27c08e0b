"""This module serves the MCP servers of one's capabilities and packages, and looks at one anew."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Path

from toolcrib.desk.servers import REFS
from toolcrib.surfaces.http.asking import TheCaller, TheDesk, router
from toolcrib.surfaces.http.paging import Asked, page
from toolcrib.surfaces.http.shapes.fields import PageOf
from toolcrib.surfaces.http.shapes.servers import ServerRow

routes = router("servers", "/api/v1/mcp/servers")


@routes.get("", response_model=PageOf[ServerRow])
async def list_all(caller: TheCaller, desk: TheDesk, asked: Asked) -> Any:
    """The servers of the capabilities and packages that you may use, as you connect to them."""
    rows = await desk.servers.list(caller, after=asked.after_text(REFS) or "", limit=asked.wanted)
    return page(rows, asked, ServerRow.of, lambda row: row.ref)


@routes.post("/{ref}/refresh")
async def refresh(
    ref: Annotated[
        str, Path(description="`mcp:<capability id>` or `package:<slug>`", max_length=64)
    ],
    caller: TheCaller,
    desk: TheDesk,
) -> ServerRow:
    """Connect if need be, read the list of tools now, and say how it went."""
    return ServerRow.of(await desk.servers.refresh(caller, ref))
