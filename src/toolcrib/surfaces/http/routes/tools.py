"""This module serves the tools of an agent: listed, called and explained."""

from __future__ import annotations

from typing import Annotated, Any, cast

from fastapi import Header, Path, Query, Response

from toolcrib.desk.desk import Desk
from toolcrib.errors import InvalidRequest
from toolcrib.identity.caller import Caller
from toolcrib.surfaces.http.asking import LARGEST_ID, Id, TheCaller, TheDesk, router
from toolcrib.surfaces.http.reading import strict_json
from toolcrib.surfaces.http.shapes.fields import JsonObject
from toolcrib.surfaces.http.shapes.tools import (
    CallAnswer,
    CallBody,
    ExplainAnswer,
    PreviewAnswer,
    PreviewBody,
    ToolsAnswer,
    call_answer,
    explain_answer,
    tools_answer,
)
from toolcrib.surfaces.http.writing import Json, dumps

routes = router("tools", "/api/v1")
ToolName = Annotated[str, Path(max_length=512, description="The exposed name, or the tool's ref.")]
Key = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        min_length=1,
        max_length=255,
        description="Names this request: a repeat with the same key is not run again.",
    ),
]
OneId = Annotated[int | None, Query(ge=1, le=LARGEST_ID)]


async def answered(
    desk: Desk, caller: Caller, agent_id: int, name: str, body: CallBody
) -> JsonObject:
    """The JSON of a CallAnswer. Raises ToolcribError for a request that cannot be."""
    outcome = await desk.tools.call(
        caller,
        agent_id,
        name,
        body.arguments,
        chat_id=body.chat_id,
        chat_uuid=body.chat_uuid,
        context=body.context,
    )
    return call_answer(outcome)


@routes.post("/agents/{agent_id}/tools/{name:path}/call", response_model=CallAnswer)
async def call(
    agent_id: Id,
    name: ToolName,
    body: CallBody,
    caller: TheCaller,
    desk: TheDesk,
    key: Key = None,
) -> Response:
    """Call a tool. A tool that fails is an answer with `success: false`, not an HTTP error.

    With an `Idempotency-Key` the same request is run once in 24 hours: its repeats get its answer.
    """
    if key is None:
        return Json(await answered(desk, caller, agent_id, name, body))

    async def run() -> str:
        return dumps(await answered(desk, caller, agent_id, name, body)).decode()

    await desk.agents.get(caller, agent_id)
    place = f"agents/{agent_id}/tools/{name}"
    text, again = await desk.repeats.once(caller, place, key, body.model_dump(), run)
    headers = {"Idempotent-Replayed": "true"} if again else None
    return Response(text, media_type="application/json", headers=headers)


@routes.post("/agents/{agent_id}/tools/{name:path}/preview")
async def preview(
    agent_id: Id, name: ToolName, body: PreviewBody, caller: TheCaller, desk: TheDesk
) -> PreviewAnswer:
    """The exact request that a call would send, secrets masked, with the guard's verdict."""
    return PreviewAnswer.of(
        await desk.tools.preview(caller, agent_id, name, body.arguments, chat_id=body.chat_id)
    )


@routes.get("/agents/{agent_id}/tools", response_model=ToolsAnswer)
async def list_all(
    agent_id: Id,
    caller: TheCaller,
    desk: TheDesk,
    chat_id: OneId = None,
    context: Annotated[
        str | None, Query(max_length=8192, description="A JSON object; in a chat, leave it out.")
    ] = None,
) -> Response:
    """What the agent offers you now, and why the rest is not there."""
    toolset = await desk.tools.list(caller, agent_id, chat_id=chat_id, context=_object(context))
    return Json(tools_answer(toolset))


@routes.get("/explain", response_model=ExplainAnswer)
async def explain(
    caller: TheCaller,
    desk: TheDesk,
    agent: Annotated[int, Query(ge=1, le=LARGEST_ID)],
    tool: Annotated[str, Query(min_length=1, max_length=512)],
    user: OneId = None,
) -> Response:
    """Which rule shows the tool to the user, you unless named, or keeps it away."""
    return Json(explain_answer(await desk.tools.explain(caller, agent, tool, user_id=user)))


def _object(text: str | None) -> dict[str, Any] | None:
    if text is None:
        return None
    value = strict_json(text, what="context")
    if not isinstance(value, dict):
        raise InvalidRequest("The context must be a JSON object.", where="context")
    return cast("dict[str, Any]", value)
