"""This module turns a request's token into a Caller, once, before any surface sees the request."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from starlette.types import ASGIApp, Receive, Scope, Send

from toolcrib.asgi.resource import Resources
from toolcrib.errors import InvalidRequest, ToolcribError
from toolcrib.identity.authentication import Authenticator
from toolcrib.identity.caller import Caller
from toolcrib.identity.tokens import bearer
from toolcrib.platform import Platform
from toolcrib.surfaces.http.asking import LARGEST_ID, SCOPE_CALLER, SCOPE_CALLER_NOW
from toolcrib.surfaces.http.places import is_open
from toolcrib.surfaces.http.problems import of_error, problem

UNAUTHORIZED = 401
_AUTHORIZATION = b"authorization"
_USER = b"x-toolcrib-user"
_GROUP = b"x-toolcrib-group"
_ASKED = ("headers", "path", "root_path")
"""What of a scope says who asks, and for what."""
_READ = frozenset({_AUTHORIZATION, _USER, _GROUP})


class Authentication:
    """Puts the Caller into the scope, or answers 401. `otherwise` stands in for a token.

    `waits`: a request waits for the plugins of a server that has just started.
    """

    def __init__(
        self, app: ASGIApp, *, otherwise: Caller | None = None, waits: bool = False
    ) -> None:
        self._app = app
        self._otherwise = otherwise
        self._waits = waits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or is_open(_path(scope)):
            await self._app(scope, receive, send)
            return
        platform: Platform | None = getattr(scope["app"].state, "platform", None)
        if platform is None:
            starting = problem(503, "The server is starting.", code="not_ready")
            await starting(scope, receive, send)
            return
        resources = Resources.of(platform.settings)
        try:
            asked = {key: scope[key] for key in _ASKED if key in scope}  # not itself: no cycle
            caller_now = partial(self._caller, asked, platform.authenticator, resources)
            scope[SCOPE_CALLER] = await caller_now()
        except ToolcribError as error:
            refusal = of_error(error)
            if refusal.status_code == UNAUTHORIZED:
                refusal.headers["WWW-Authenticate"] = resources.challenge(scope, _path(scope))
            await refusal(scope, receive, send)
            return
        scope[SCOPE_CALLER_NOW] = caller_now
        if self._waits:
            # Until plugins were loaded every tool would look as if nobody had registered it.
            await platform.wait_ready()
        await self._app(scope, receive, send)

    async def _caller(
        self, scope: Scope, authenticator: Authenticator, resources: Resources
    ) -> Caller:
        headers = _headers(scope)
        authorization = headers.get(_AUTHORIZATION)
        if authorization is None and self._otherwise is not None:
            caller = self._otherwise
        else:
            audiences = resources.audiences(_path(scope))
            caller = await authenticator.caller_of(bearer(authorization), audiences)
        user_id, group_id = _id(headers, _USER), _id(headers, _GROUP)
        if user_id is None and group_id is None:
            return caller
        return await authenticator.acting(caller, user_id=user_id, group_id=group_id)


def _headers(scope: Scope) -> Mapping[bytes, str]:
    """The headers that say who asks, each of them once."""
    found: dict[bytes, str] = {}
    for name, value in scope["headers"]:
        if name in _READ:
            if name in found:
                raise InvalidRequest(
                    "The header came twice: who asks must be said once.", where=_shown(name)
                )
            found[name] = value.decode("latin-1")
    return found


def _id(headers: Mapping[bytes, str], name: bytes) -> int | None:
    text = headers.get(name)
    if text is None:
        return None
    digits = text.strip()
    readable = digits.isascii() and digits.isdecimal() and len(digits) < 20
    if readable and 0 < int(digits) <= LARGEST_ID:
        return int(digits)
    raise InvalidRequest("The header must be an id, a number.", where=_shown(name))


def _shown(name: bytes) -> str:
    return name.decode().title()


def _path(scope: Scope) -> str:
    return scope["path"].removeprefix(scope.get("root_path", ""))
