"""This module serves pins: which definitions of tools are accepted, and which wait for a person."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import Header, Path, Query, Response

from toolcrib.catalog.lock import read_tools
from toolcrib.desk.pins import LIVE
from toolcrib.surfaces.http.asking import NO_CONTENT, TheCaller, TheDesk, router
from toolcrib.surfaces.http.paging import Asked, AskedWhole, page, whole
from toolcrib.surfaces.http.shapes.fields import PageOf
from toolcrib.surfaces.http.shapes.pins import (
    AcceptBody,
    LockAppliedRow,
    LockBody,
    LookalikesRow,
    LookedRow,
    PinDiffRow,
    PinRow,
)
from toolcrib.surfaces.http.writing import Json

routes = router("pins", "/api/v1/pins")
Ref = Annotated[
    str,
    Path(description="The tool's ref, or its key `<source>/<name>`.", max_length=1024),
]
Fingerprint = Annotated[
    str | None, Query(description="One definition of the tool; without it the one that waits.")
]
Seen = Annotated[
    str | None,
    Header(alias="If-Match", description="The fingerprint that was looked at: the diff's ETag."),
]
State = Annotated[
    Literal["accepted", "held"] | None,
    Query(description="Those that are accepted, or those that wait; without it both."),
]


@routes.get("", response_model=PageOf[PinRow])
async def list_all(caller: TheCaller, desk: TheDesk, asked: Asked, state: State = None) -> Any:
    """The pins of tools whose definition you may change."""
    rows = await desk.pins.list(
        caller,
        states=LIVE if state is None else (state,),
        after=asked.after_id(),
        limit=asked.wanted,
    )
    return Json(page(rows, asked, lambda pin: PinRow.of(pin).model_dump(), lambda pin: pin.id))


@routes.get("/lookalikes", response_model=PageOf[LookalikesRow])
async def lookalikes(caller: TheCaller, desk: TheDesk, asked: AskedWhole) -> Any:
    """Tools that a person or a model may take for each other: copies, and names and descriptions
    that are nearly the same."""
    return whole([LookalikesRow.of(one) for one in await desk.pins.lookalikes(caller)], asked)


@routes.post("/look")
async def look(caller: TheCaller, desk: TheDesk) -> LookedRow:
    """See every tool of every source now. What is new is pinned; what changed is held."""
    return LookedRow.of(await desk.pins_looking.look(caller))


@routes.post("/apply")
async def apply(body: LockBody, caller: TheCaller, desk: TheDesk) -> LockAppliedRow:
    """Accept what a lock names, in place of what it does not name."""
    return LockAppliedRow.of(await desk.pins_looking.apply(caller, read_tools(body.tools)))


@routes.get("/{ref:path}/diff", response_model=PinDiffRow)
async def diff(
    ref: Ref, caller: TheCaller, desk: TheDesk, fingerprint: Fingerprint = None
) -> Response:
    """How the definition that waits differs from the accepted one. Its fingerprint is the ETag."""
    found = await desk.pins.diff(caller, ref, fingerprint=fingerprint)
    etag = {"ETag": f'"{found.pin.fingerprint}"'}
    return Json(PinDiffRow.of(found).model_dump(), headers=etag)


@routes.post("/{ref:path}/accept", response_model=PinRow)
async def accept(
    ref: Ref,
    caller: TheCaller,
    desk: TheDesk,
    seen: Seen = None,
    body: AcceptBody | None = None,
) -> Response:
    """Accept the definition that you looked at, and no other (If-Match)."""
    accepted = await desk.pins.accept(
        caller, ref, fingerprint=seen, keeps_others=body is not None and body.keep_others
    )
    return Json(PinRow.of(accepted).model_dump())


@routes.get("/{ref:path}", response_model=PageOf[PinRow])
async def show(ref: Ref, caller: TheCaller, desk: TheDesk, asked: AskedWhole) -> Any:
    """Every definition that a tool was seen with, newest first, and what was decided about it."""
    pins = await desk.pins.of_tool(caller, ref)
    return Json(whole([PinRow.of(pin).model_dump() for pin in pins], asked))


@routes.delete("/{ref:path}", **NO_CONTENT)
async def forget(
    ref: Ref, caller: TheCaller, desk: TheDesk, fingerprint: Fingerprint = None
) -> None:
    """Forget a tool, or one of its definitions: the next one seen is a first sight again."""
    await desk.pins.forget(caller, ref, fingerprint=fingerprint)
