"""This module is an OAuth authorization server on loopback, as strict as a good one.

It registers clients, checks PKCE, redirect addresses and resources, replaces refresh tokens with
every use, and ends a whole login when an old one comes twice. What it was asked stands in `asked`.
"""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self
from urllib.parse import unquote, urlencode

from aiohttp import web


@dataclass
class Grant:
    """One login: its tokens live and die together."""

    client: str
    resource: str
    scope: str
    access: set[str] = field(default_factory=set[str])
    refresh: str | None = None
    used: set[str] = field(default_factory=set[str])
    over: bool = False


class Authorizing:
    """Start it with `async with`. A browser is `visit`, which follows to where it is sent."""

    def __init__(self, *, port: int = 0) -> None:
        self._port = port
        self.asked: list[tuple[str, dict[str, str]]] = []
        self.clients: dict[str, dict[str, Any]] = {}
        self.codes: dict[str, dict[str, str]] = {}
        self.grants: list[Grant] = []
        self.metadata: dict[str, Any] = {}
        """What the published metadata says otherwise; None leaves a member out."""
        self.lives: int | None = 3600
        self.refreshes = True
        self.needs_resource = True
        self.punished = 0
        self.revoked: list[str] = []
        self.fails: tuple[int, dict[str, Any]] | None = None
        self.issuer_in_answer: str | None = ""
        """`iss` of the answer: empty is our own, None leaves it out."""
        self.denies = False

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}/as"

    @property
    def place(self) -> str:
        return f"127.0.0.1:{self._port}"

    def client(self, client_id: str, *, secret: str | None = None, redirect: str = "") -> None:
        """Somebody whom an administrator registered."""
        self.clients[client_id] = {"secret": secret, "redirect_uris": [redirect]}

    def knows(self, access: str, resource: str) -> bool:
        """Whether a resource may take the access token."""
        return any(
            access in grant.access and not grant.over and grant.resource == resource
            for grant in self.grants
        )

    def scopes_of(self, access: str) -> list[str]:
        """What an access token allows."""
        return next(
            (grant.scope.split() for grant in self.grants if access in grant.access), list[str]()
        )

    def count(self, grant_type: str) -> int:
        return sum(1 for _, form in self.asked if form.get("grant_type") == grant_type)

    def expire(self) -> None:
        """No access token is good any more; refresh tokens are."""
        for grant in self.grants:
            grant.access.clear()

    def first(self, client: str, resource: str) -> dict[str, Any]:
        """The tokens of a login that somebody made earlier."""
        return self._given(self._granted(client, resource, ""))

    async def __aenter__(self) -> Self:
        app = web.Application()
        app.router.add_get("/.well-known/oauth-authorization-server/as", self._metadata)
        app.router.add_get("/as/authorize", self._authorize)
        app.router.add_post("/as/register", self._register)
        app.router.add_post("/as/token", self._token)
        app.router.add_post("/as/revoke", self._revoke)
        self._runner = web.AppRunner(app, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", self._port).start()
        self._port = self._runner.addresses[0][1]
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._runner.cleanup()

    async def _metadata(self, request: web.Request) -> web.Response:
        self.asked.append((request.path, {}))
        document = {
            "issuer": self.url,
            "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.url}/token",
            "registration_endpoint": f"{self.url}/register",
            "revocation_endpoint": f"{self.url}/revoke",
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": ["none", "client_secret_basic"],
            "authorization_response_iss_parameter_supported": True,
            **self.metadata,
        }
        found = {name: value for name, value in document.items() if value is not None}
        return web.json_response(found)

    async def _register(self, request: web.Request) -> web.Response:
        body = await request.json()
        self.asked.append((request.path, {"redirect_uri": body["redirect_uris"][0]}))
        client_id = f"client-{secrets.token_hex(4)}"
        self.clients[client_id] = {"secret": None, **body}
        return web.json_response({"client_id": client_id, **body}, status=201)

    async def _authorize(self, request: web.Request) -> web.Response:
        """Whoever comes agrees at once; what is wrong with the request is shown, not sent back."""
        asked = dict(request.query)
        self.asked.append((request.path, asked))
        known = self.clients.get(asked.get("client_id", ""))
        good = (
            known is not None
            and asked.get("redirect_uri") in known["redirect_uris"]
            and asked.get("response_type") == "code"
            and asked.get("code_challenge_method") == "S256"
            and bool(asked.get("resource")) == self.needs_resource
        )
        if not good:
            return web.Response(status=400, text="refused")
        back = {"state": asked["state"]}
        if self.denies:
            back["error"] = "access_denied"
        else:
            back["code"] = secrets.token_urlsafe(16)
            self.codes[back["code"]] = asked
        issuer = self.url if self.issuer_in_answer == "" else self.issuer_in_answer
        if issuer is not None:
            back["iss"] = issuer
        location = f"{asked['redirect_uri']}?{urlencode(back)}"
        return web.Response(status=302, headers={"Location": location})

    async def _token(self, request: web.Request) -> web.Response:
        form = {name: str(value) for name, value in (await request.post()).items()}
        self.asked.append((request.path, form))
        if self.fails is not None:
            return web.json_response(self.fails[1], status=self.fails[0])
        client = self._client_of(request.headers, form)
        if client is None:
            return web.json_response({"error": "invalid_client"}, status=401)
        found = {
            "authorization_code": self._by_code,
            "refresh_token": self._by_refresh,
            "client_credentials": self._by_proof,
        }[form["grant_type"]](client, form)
        if found is None:
            return web.json_response({"error": "invalid_grant"}, status=400)
        return web.json_response(self._given(found))

    def _client_of(self, headers: Mapping[str, str], form: Mapping[str, str]) -> str | None:
        """Whoever proves to be a client; a secret that was given must be shown."""
        client_id, secret = form.get("client_id"), form.get("client_secret")
        scheme, _, coded = headers.get("Authorization", "").partition(" ")
        if scheme == "Basic":
            pair = base64.b64decode(coded).decode().partition(":")
            client_id, secret = unquote(pair[0]), unquote(pair[2])
        known = self.clients.get(client_id or "")
        return client_id if known is not None and known["secret"] == secret else None

    def _by_code(self, client: str, form: Mapping[str, str]) -> Grant | None:
        asked = self.codes.pop(form["code"], None)
        digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).decode().rstrip("=")
        if (
            asked is None
            or asked["client_id"] != client
            or asked["code_challenge"] != challenge
            or asked["redirect_uri"] != form.get("redirect_uri")
            or asked.get("resource") != form.get("resource")
        ):
            return None
        return self._granted(client, asked.get("resource", ""), asked.get("scope", ""))

    def _by_refresh(self, client: str, form: Mapping[str, str]) -> Grant | None:
        token = form["refresh_token"]
        for grant in self.grants:
            if token in grant.used:  # a stolen copy, or a client that used it twice
                grant.over = True
                self.punished += 1
            elif token == grant.refresh and not grant.over and grant.client == client:
                grant.used.add(token)
                return grant
        return None

    def _by_proof(self, client: str, form: Mapping[str, str]) -> Grant | None:
        if self.clients[client]["secret"] is None:
            return None
        return self._granted(client, form.get("resource", ""), form.get("scope", ""))

    def _granted(self, client: str, resource: str, scope: str) -> Grant:
        grant = Grant(client=client, resource=resource, scope=scope)
        self.grants.append(grant)
        return grant

    def _given(self, grant: Grant) -> dict[str, Any]:
        access = f"access-{secrets.token_urlsafe(16)}"
        grant.access.add(access)
        told: dict[str, Any] = {"access_token": access, "token_type": "Bearer"}
        if self.lives is not None:
            told["expires_in"] = self.lives
        if self.refreshes:
            grant.refresh = f"refresh-{secrets.token_urlsafe(16)}"
            told["refresh_token"] = grant.refresh
        return told

    async def _revoke(self, request: web.Request) -> web.Response:
        form = await request.post()
        token = str(form["token"])
        self.revoked.append(token)
        for grant in self.grants:
            if token in {grant.refresh, *grant.access}:
                grant.over = True
        return web.Response()

    def everything(self) -> str:
        """All that it was ever told, as text."""
        return json.dumps(self.asked)
