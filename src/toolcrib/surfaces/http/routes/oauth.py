"""This module serves authorization servers and the browsers they send back. No token is needed:
a state that works once says whose login it is."""

from __future__ import annotations

from html import escape
from typing import Annotated, Any

from fastapi import Query, Response

from toolcrib.errors import NotFound, ToolcribError
from toolcrib.sources.oauth.connecting import Answer
from toolcrib.sources.oauth.registering import NAME
from toolcrib.surfaces.http.asking import TheDesk, ThePlatform, router
from toolcrib.surfaces.http.places import CALLBACK, CLIENT
from toolcrib.surfaces.http.problems import of_error
from toolcrib.surfaces.http.shapes.fields import JsonObject
from toolcrib.surfaces.http.shapes.problem import RESPONSES

routes = router("oauth", "")
_LONGEST = 4096
Text = Annotated[str, Query(max_length=_LONGEST)]
MaybeText = Annotated[str | None, Query(max_length=_LONGEST)]


_PAGE: dict[str, Any] = {"text/html": {"schema": {"type": "string"}}}
_ANSWERS: dict[int | str, dict[str, Any]] = {
    200: {"content": _PAGE, "description": "The login is made."},
    **{
        status: {**answer, "content": {**answer["content"], **_PAGE}}
        for status, answer in RESPONSES.items()
    },
}


@routes.get(CALLBACK, response_class=Response, responses=_ANSWERS)
async def callback(
    desk: TheDesk,
    state: Text = "",
    code: MaybeText = None,
    error: MaybeText = None,
    iss: MaybeText = None,
) -> Response:
    """Where a login ends: a page that says "connected", or why not."""
    answer = Answer(state=state, code=code, error=error, issuer=iss)
    try:
        done = await desk.connections.finish(answer)
    except ToolcribError as failure:
        told = of_error(failure)  # what only the operator may see is logged there
        ours = told.status_code in {500, 503}
        words = "Only the operator can see the reason, in the log." if ours else failure.message
        return _page("Not connected", words, status=told.status_code)
    return _page(
        "Connected",
        f"{done.label} is connected for {done.whose}. You can close this page.",
    )


@routes.get(CLIENT, response_model=JsonObject)
async def client(platform: ThePlatform) -> Any:
    """Who this server is, for authorization servers that read it instead of registering it."""
    place = platform.logins.place
    if place.document is None:
        raise NotFound(
            "This server is not reached over https, so nobody can read who it is.",
            hint="Set TOOLCRIB_PUBLIC_URL.",
        )
    return {
        "client_id": place.document,
        "client_name": NAME,
        "redirect_uris": [place.redirect_uri],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "none",
    }


def _page(title: str, words: str, *, status: int = 200) -> Response:
    """A page without script or style: the policy of every answer forbids both."""
    body = (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}'
        f"</title></head><body><main><h1>{escape(title)}</h1><p>{escape(words)}</p></main>"
        "</body></html>"
    )
    return Response(body, status, media_type="text/html; charset=utf-8")
