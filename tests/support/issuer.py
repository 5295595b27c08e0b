"""This module is a small OIDC issuer on loopback with real keys: discovery, a key set, tokens."""

from __future__ import annotations

import asyncio
import time
from typing import Any, Literal, Self

from aiohttp import web
from joserfc import jwk, jwt
from joserfc.jws import JWSRegistry
from joserfc.registry import HeaderParameter

_ANY = JWSRegistry(
    header_registry={"x": HeaderParameter("Something of our own", "str")},
    algorithms=["RS256", "ES256", "Ed25519"],
)
Kind = Literal["RSA", "EC", "OKP"]
ALGORITHMS = {"RSA": "RS256", "EC": "ES256", "OKP": "Ed25519"}


class Issuer:
    """Start it with `async with`. `asked` are the paths that were asked for, in order."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.keys: list[jwk.Key] = []
        self.kind: Kind = "RSA"
        self.names_itself: str | None = None
        self.status = 200
        self.says: dict[str, str] = {}
        """What the key set says of every key, beside what it is."""
        self.answers = asyncio.Event()
        """Cleared: whoever asks for the keys waits."""
        self.answers.set()
        self.reached = asyncio.Event()
        """Set once somebody waits."""
        self.new_key("first")

    def new_key(self, kid: str, kind: Kind = "RSA", **more: Any) -> jwk.Key:
        """Sign with a new key from now on; the older ones stay in the set."""
        size: Any = {"RSA": 2048, "EC": "P-256", "OKP": "Ed25519"}[kind]
        self.kind = kind
        parameters: Any = {"kid": kid, "use": "sig", **more}
        key = jwk.generate_key(kind, size, parameters, private=True)
        self.keys.append(key)
        return key

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}/realm"

    def claims(self, subject: str, audience: str | list[str], **more: Any) -> dict[str, Any]:
        now = int(time.time())
        whole = {"iss": self.url, "sub": subject, "aud": audience, "iat": now, "exp": now + 300}
        return {k: v for k, v in {**whole, **more}.items() if v is not None}

    def token(self, claims: dict[str, Any], *, key: jwk.Key | None = None, **header: Any) -> str:
        """The claims, signed with the newest key unless another is given."""
        key = key or self.keys[-1]
        whole = {"alg": ALGORITHMS[key.key_type], "kid": key.kid, "typ": "at+jwt", **header}
        head = {name: value for name, value in whole.items() if value is not None}
        return jwt.encode(head, claims, key, registry=_ANY, default_type=None)

    def count(self, end: str) -> int:
        return sum(1 for path in self.asked if path.endswith(end))

    async def __aenter__(self) -> Self:
        app = web.Application()
        app.router.add_get("/realm/.well-known/openid-configuration", self._discovery)
        app.router.add_get("/realm/keys", self._keys)
        self._runner = web.AppRunner(app, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self._port = self._runner.addresses[0][1]
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._runner.cleanup()

    async def _discovery(self, request: web.Request) -> web.Response:
        self.asked.append(request.path)
        document = {"issuer": self.names_itself or self.url, "jwks_uri": f"{self.url}/keys"}
        return web.json_response(document, status=self.status)

    async def _keys(self, request: web.Request) -> web.Response:
        self.asked.append(request.path)
        if not self.answers.is_set():
            self.reached.set()
            await self.answers.wait()
        found = [{**key.as_dict(private=False), **self.says} for key in self.keys]
        return web.json_response({"keys": found}, status=self.status)
