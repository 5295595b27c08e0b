"""This module serves capabilities, under PrimeThink's paths."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Query, Response

from toolcrib.surfaces.http.asking import (
    LARGEST_ID,
    NO_CONTENT,
    Id,
    TheCaller,
    TheDesk,
    Version,
    router,
    versioned,
)
from toolcrib.surfaces.http.paging import Asked, AskedWhole, page, whole
from toolcrib.surfaces.http.shapes.capabilities import (
    CapabilityBody,
    CapabilityPatch,
    CapabilityRow,
    FromRegisteredBody,
    RegisteredRow,
)
from toolcrib.surfaces.http.shapes.fields import PageOf

routes = router("capabilities", "/api/super-admin/capabilities")


@routes.post("", status_code=201)
async def create(
    body: CapabilityBody, caller: TheCaller, desk: TheDesk, response: Response
) -> CapabilityRow:
    """Make a capability by hand: for a group by its admin, private for yourself."""
    row = await desk.capabilities.create(caller, body.draft())
    versioned(response, row.version)
    return CapabilityRow.of(row)


@routes.post("/from-registered-tool", status_code=201)
async def create_from_registered(
    body: FromRegisteredBody, caller: TheCaller, desk: TheDesk, response: Response
) -> CapabilityRow:
    """Activate a code of a plugin for a group; name and description come from the plugin."""
    row = await desk.capabilities.create_from_registered(caller, **body.model_dump())
    versioned(response, row.version)
    return CapabilityRow.of(row)


@routes.get("/registered-tools", response_model=PageOf[RegisteredRow])
async def registered(
    caller: TheCaller,
    desk: TheDesk,
    asked: AskedWhole,
    group_id: Annotated[int, Query(ge=1, le=LARGEST_ID)],
) -> Any:
    """The codes that loaded plugins register, and which of them the group has activated."""
    rows = await desk.capabilities.registered(caller, group_id=group_id)
    return whole([RegisteredRow.of(row) for row in rows], asked)


@routes.get("", response_model=PageOf[CapabilityRow])
async def list_all(
    caller: TheCaller,
    desk: TheDesk,
    asked: Asked,
    code: Annotated[str | None, Query(max_length=255)] = None,
    archived: bool = False,
) -> Any:
    """What you may use; with `archived=true`, archived rows too."""
    rows = await desk.capabilities.list(
        caller, code=code, archived=archived, after=asked.after_id(), limit=asked.wanted
    )
    return page(rows, asked, CapabilityRow.of, lambda row: row.id)


@routes.get("/{capability_id}")
async def show(
    capability_id: Id, caller: TheCaller, desk: TheDesk, response: Response
) -> CapabilityRow:
    """One capability."""
    row = await desk.capabilities.get(caller, capability_id)
    versioned(response, row.version)
    return CapabilityRow.of(row)


@routes.patch("/{capability_id}")
async def change(
    capability_id: Id,
    body: CapabilityPatch,
    caller: TheCaller,
    desk: TheDesk,
    version: Version,
    response: Response,
) -> CapabilityRow:
    """Change the capability. Another reach needs the right to make such a one."""
    row = await desk.capabilities.update(
        caller, capability_id, body.model_dump(exclude_unset=True), expected_version=version
    )
    versioned(response, row.version)
    return CapabilityRow.of(row)


@routes.delete("/{capability_id}", **NO_CONTENT)
async def archive(capability_id: Id, caller: TheCaller, desk: TheDesk, version: Version) -> None:
    """Archive the capability: agents that hold it show it as skipped. See `restore`."""
    await desk.capabilities.archive(caller, capability_id, expected_version=version)


@routes.post("/{capability_id}/restore")
async def restore(
    capability_id: Id,
    caller: TheCaller,
    desk: TheDesk,
    version: Version,
    response: Response,
) -> CapabilityRow:
    """Bring an archived capability back."""
    row = await desk.capabilities.restore(caller, capability_id, expected_version=version)
    versioned(response, row.version)
    return CapabilityRow.of(row)
