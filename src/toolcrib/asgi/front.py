"""This module is the outermost step of every request: its path, its host, its answer's headers,
and what nobody else caught."""

from __future__ import annotations

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from toolcrib.asgi.hosts import Hosts
from toolcrib.surfaces.http.problems import problem, unexpected

_HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"cache-control", b"no-store"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-frame-options", b"DENY"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
)
"""What every answer carries unless its route said otherwise."""

_HOST, _ORIGIN = b"host", b"origin"
_SAID = {_HOST: "Host", _ORIGIN: "Origin"}
_REMEMBERED = 64


class Front:
    """Lets a request in, and its answer out."""

    def __init__(self, app: ASGIApp, *, hosts: Hosts, prefix: str) -> None:
        self._app = app
        self._hosts = hosts
        self._prefix = prefix
        self._answered_to: set[str | None] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        answer = _Answer(send)
        refusal = self._refusal(scope)
        if refusal is not None:
            await refusal(scope, receive, answer.send)
            return
        try:
            await self._app(_below(scope, self._prefix), receive, answer.send)
        except Exception as error:
            if answer.started:
                raise
            await unexpected(error)(scope, receive, answer.send)

    def _refusal(self, scope: Scope) -> Response | None:
        told, twice = _who_and_whence(scope)
        if twice is not None:
            return problem(
                400,
                f"The header {twice} came twice: it must be said once.",
                code="invalid_request",
                where=twice,
            )
        host, origin = told.get(_HOST), told.get(_ORIGIN)
        if not self._is_ours(host):
            return problem(
                421,
                "This server does not answer to the name in the Host header.",
                code="wrong_host",
                where="Host",
                hint="TOOLCRIB_PUBLIC_URL adds the name that the outside uses.",
            )
        if origin is not None and not self._hosts.listens_to(origin, host=host):
            return problem(
                403,
                "Pages of this origin may not speak to this server.",
                code="wrong_origin",
                where="Origin",
                hint="TOOLCRIB_CORS_ORIGINS names those that may.",
            )
        return None

    def _is_ours(self, host: str | None) -> bool:
        """Whether this server answers to the name; the names that it does are remembered."""
        if host in self._answered_to:
            return True
        ours = self._hosts.answers_to(host)
        if ours and len(self._answered_to) < _REMEMBERED:
            self._answered_to.add(host)
        return ours


class _Answer:
    """Adds the headers, and knows whether the answer has begun."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.started = False

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.started = True
            headers = list(message.get("headers", ()))
            present = {name.lower() for name, _ in headers}
            message["headers"] = headers + [pair for pair in _HEADERS if pair[0] not in present]
        await self._send(message)


def _who_and_whence(scope: Scope) -> tuple[dict[bytes, str], str | None]:
    """`Host` and `Origin` of a request, and which of them came twice."""
    told: dict[bytes, str] = {}
    twice = None
    for name, value in scope["headers"]:
        if name in _SAID:
            if name in told:
                twice = _SAID[name]
            told[name] = value.decode("latin-1")
    return told, twice


def _below(scope: Scope, prefix: str) -> Scope:
    """The scope with the public path's prefix as `root_path`, whether a proxy cut it off or not."""
    if not prefix:
        return scope
    path: str = scope["path"]
    whole = path if path == prefix or path.startswith(f"{prefix}/") else prefix + path
    return {**scope, "root_path": prefix, "path": whole}
