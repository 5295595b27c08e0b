"""This module serves authorization servers, and the browsers that go to them and come back.

No token is needed: a ticket says which login it is, a cookie which browser, and a state that works
once that the answer is to it. What comes of it is a code for whoever began the login, no more.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Awaitable
from dataclasses import replace
from typing import Annotated, Any

from fastapi import Depends, Path, Query, Request, Response

from toolcrib.errors import InvalidRequest, NotFound, ToolcribError
from toolcrib.identity.authentication import now
from toolcrib.platform import Platform
from toolcrib.sources.oauth.connecting import PATIENCE, Answer
from toolcrib.sources.oauth.registering import NAME
from toolcrib.surfaces.http import login_pages
from toolcrib.surfaces.http.asking import TheDesk, ThePlatform, router
from toolcrib.surfaces.http.places import CALLBACK, CLIENT, CLIENTS, LOGIN
from toolcrib.surfaces.http.problems import of_error
from toolcrib.surfaces.http.shapes.fields import JsonObject
from toolcrib.surfaces.http.shapes.problem import RESPONSES

routes = router("oauth", "")
_LONGEST = 4096
_COOKIE = "toolcrib-login"
_VALUE = re.compile(r"[A-Za-z0-9_-]{43}")
_LIVES = int(PATIENCE.total_seconds())


def _cookie(platform: Platform) -> str:
    """Over https the name says that no other host may have set it."""
    return f"__Host-{_COOKIE}" if platform.logins.place.is_secure else _COOKIE


async def browser_of(request: Request, platform: ThePlatform) -> str:
    """The cookie that this browser brought; empty where it is none of ours."""
    value = request.cookies.get(_cookie(platform), "")
    return value if _VALUE.fullmatch(value) else ""


Browser = Annotated[str, Depends(browser_of)]
Text = Annotated[str, Query(max_length=_LONGEST)]
MaybeText = Annotated[str | None, Query(max_length=_LONGEST)]
Ticket = Annotated[str, Path(max_length=100, description="What the login's address ends with.")]

Named = Annotated[
    str, Path(pattern="^[0-9a-f]{32}$", description="What an issuer is called in addresses here.")
]

_PAGE: dict[str, Any] = {"text/html": {"schema": {"type": "string"}}}


def _answers(words: str, *, status: int = 200) -> dict[int | str, dict[str, Any]]:
    """The documented answers of a page."""
    good = {"content": _PAGE, "description": words} if status == 200 else {"description": words}
    return {
        status: good,
        **{
            number: {**answer, "content": {**answer["content"], **_PAGE}}
            for number, answer in RESPONSES.items()
        },
    }


@routes.get(
    f"{LOGIN}/{{ticket}}",
    response_class=Response,
    responses=_answers("What would be connected, for whom."),
)
async def login(ticket: Ticket, browser: Browser, desk: TheDesk, platform: ThePlatform) -> Response:
    """Where a login begins: a page that says for whom it is, and asks. Nothing changes by it."""

    async def asked() -> Response:
        answer = login_pages.asking(await desk.connections.pages.look(ticket))
        answer.set_cookie(
            _cookie(platform),
            browser or secrets.token_urlsafe(32),
            max_age=_LIVES,
            secure=platform.logins.place.is_secure,
            httponly=True,
            samesite="lax",
        )
        return answer

    return await _shown(asked())


@routes.post(
    f"{LOGIN}/{{ticket}}/continue",
    status_code=303,
    response_class=Response,
    responses=_answers("To the page where one logs in.", status=303),
)
async def go_on(ticket: Ticket, browser: Browser, desk: TheDesk) -> Response:
    """Go on to the server's own page, in this browser alone."""

    async def sent() -> Response:
        if not browser:
            raise InvalidRequest("This browser keeps no cookies, and a login needs one.")
        url = await desk.connections.pages.go_on(ticket, browser=browser)
        return Response(status_code=303, headers={"Location": url})

    return await _shown(sent())


@routes.post(
    f"{LOGIN}/{{ticket}}/deny",
    response_class=Response,
    responses=_answers("Nothing is connected."),
)
async def deny(ticket: Ticket, desk: TheDesk) -> Response:
    """End a login that is not confirmed; what its server gave for it is revoked."""

    async def denied() -> Response:
        await desk.connections.pages.deny(ticket)
        return login_pages.told("Denied", "Nothing is connected. You can close this page.")

    return await _shown(denied())


async def answer_of(
    browser: Browser,
    state: Text = "",
    code: MaybeText = None,
    error: MaybeText = None,
    iss: MaybeText = None,
) -> Answer:
    return Answer(state=state, code=code, error=error, issuer=iss, browser=browser)


Brought = Annotated[Answer, Depends(answer_of)]


@routes.get(CALLBACK, response_class=Response, responses=_answers("The code to confirm."))
async def callback(answer: Brought, desk: TheDesk) -> Response:
    """Where a login comes back to: a page with the code that confirms it, or why there is none."""
    return await _finished(desk, answer)


@routes.get(
    f"{CALLBACK}/{{issuer}}",
    response_class=Response,
    responses=_answers("The code to confirm."),
)
async def callback_of(issuer: Named, answer: Brought, desk: TheDesk) -> Response:
    """The same for the answers of one issuer: another one's are refused here."""
    return await _finished(desk, replace(answer, came_to=issuer))


async def _finished(desk: TheDesk, answer: Answer) -> Response:
    async def finished() -> Response:
        return login_pages.code(await desk.connections.pages.finish(answer), now=now())

    return await _shown(finished())


@routes.get(CLIENT, response_model=JsonObject)
async def client(platform: ThePlatform) -> Any:
    """Who this server is, for authorization servers that read it instead of registering it."""
    return _document(platform)


@routes.get(f"{CLIENTS}/{{issuer}}", response_model=JsonObject)
async def client_for(issuer: Named, platform: ThePlatform) -> Any:
    """The same for one authorization server, with a redirect address of its own."""
    return _document(platform, issuer)


def _document(platform: Platform, issuer: str = "") -> dict[str, Any]:
    place = platform.logins.place
    document = place.document_for(issuer)
    if document is None:
        raise NotFound(
            "This server is not reached over https, so nobody can read who it is.",
            hint="Set TOOLCRIB_PUBLIC_URL.",
        )
    return {
        "client_id": document,
        "client_name": NAME,
        "redirect_uris": [place.redirect_for(issuer)],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "none",
    }


async def _shown(answer: Awaitable[Response]) -> Response:
    """The page, or one that says what went wrong."""
    try:
        return await answer
    except ToolcribError as failure:
        told = of_error(failure)  # what only the operator may see is logged there
        ours = told.status_code in {500, 503}
        words = "Only the operator can see the reason, in the log." if ours else failure.message
        if failure.hint and not ours:
            words = f"{words} {failure.hint}"
        return login_pages.told("Not connected", words, status=told.status_code)
