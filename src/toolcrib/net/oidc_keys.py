"""This module fetches the public keys of an issuer that the operator named, and keeps them.

The issuer's own place is trusted, as the operator's word; where its discovery document points to is
judged like every other address.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from math import inf
from time import monotonic
from typing import Any, cast
from urllib.parse import urlsplit

import orjson

from toolcrib.errors import InvalidSettings, SetupError, SourceError, SourceProtocolError
from toolcrib.net.client import GuardedClient

DISCOVERY = "/.well-known/openid-configuration"
_LIMIT = 512 * 1024
_TIMEOUT = 10.0
_PORTS = {"https": 443, "http": 80}


class IssuerKeys:
    """Asked for as often as tokens come; the issuer is asked rarely.

    Keys are looked for again after `fresh` seconds, and for an id that nobody knows not more often
    than every `pause` seconds: tokens with made-up ids must not make this server a hammer. Keys
    that are known serve for `kept` seconds while the issuer does not answer.
    """

    def __init__(
        self,
        issuer: str,
        client: GuardedClient,
        *,
        fresh: float = 600.0,
        pause: float = 30.0,
        kept: float = 24 * 3600.0,
    ) -> None:
        self._issuer = issuer
        self._client = client
        self._fresh = fresh
        self._pause = pause
        self._kept = kept
        self._keys: Sequence[Mapping[str, Any]] = ()
        self._read_at: float | None = None
        self._asked_at: float | None = None
        self._trouble: str | None = None
        self._turn = asyncio.Lock()

    async def keys(self, kid: str | None) -> Sequence[Mapping[str, Any]]:
        """The issuer's JWKs. Raises SetupError when there are none and the issuer gives none."""
        if not self._suffices(kid) and not (self._turn.locked() and self._knows(kid)):
            async with self._turn:
                if not self._suffices(kid):
                    await self._look()
        if self._age() > self._kept:
            why = self._trouble or "it was not asked yet"
            raise SetupError(f"The issuer {self._issuer!r} gives no keys: {why}")
        return self._keys

    def _suffices(self, kid: str | None) -> bool:
        """Whether what is known will do, or the issuer was asked a moment ago."""
        if self._age() < self._fresh and self._knows(kid):
            return True
        return self._asked_at is not None and monotonic() - self._asked_at < self._pause

    def _knows(self, kid: str | None) -> bool:
        known = kid is None or any(key.get("kid") == kid for key in self._keys)
        return known and self._age() <= self._kept

    def _age(self) -> float:
        """Seconds since the keys were read."""
        return inf if self._read_at is None else monotonic() - self._read_at

    async def _look(self) -> None:
        try:
            self._keys = await self._fetched()
        except SourceError as error:
            self._trouble = str(error)
        else:
            self._trouble = None
            self._read_at = monotonic()
        finally:
            # Whoever hangs up during the very first look leaves it to the next one.
            if self._trouble is not None or self._read_at is not None:
                self._asked_at = monotonic()

    async def _fetched(self) -> Sequence[Mapping[str, Any]]:
        document = await self._json(self._issuer.rstrip("/") + DISCOVERY)
        if document.get("issuer") != self._issuer:
            raise SourceProtocolError(
                "Its discovery document names another issuer: "
                f"TOOLCRIB_OIDC_ISSUER must be as it writes itself, {document.get('issuer')!r}."
            )
        address = document.get("jwks_uri")
        if not isinstance(address, str):
            raise SourceProtocolError("Its discovery document has no jwks_uri.")
        found = (await self._json(address)).get("keys")
        if not isinstance(found, list):
            raise SourceProtocolError("Its key set has no list of keys.")
        listed = cast("list[object]", found)
        return [cast("dict[str, Any]", key) for key in listed if isinstance(key, dict)]

    async def _json(self, url: str) -> Mapping[str, Any]:
        answer = await self._client.request(
            "GET",
            url,
            headers={"Accept": "application/json"},
            timeout=_TIMEOUT,
            limit=_LIMIT,
            follow_redirects=True,
        )
        try:
            body: object = None if answer.truncated else orjson.loads(answer.body)
        except orjson.JSONDecodeError:
            body = None
        if not answer.ok or not isinstance(body, dict):
            what = f"HTTP {answer.status}" if not answer.ok else "no JSON object"
            raise SourceProtocolError(f"It answered {what}.")
        return cast("dict[str, Any]", body)


def place_of(issuer: str) -> str:
    """`host:port` of an issuer's address. Raises InvalidSettings."""
    try:
        parts = urlsplit(issuer)
        port = parts.port or _PORTS.get(parts.scheme)
    except ValueError:
        port = None
        parts = urlsplit("")
    if port is None or not parts.hostname or parts.query or parts.fragment:
        raise InvalidSettings(
            f"{issuer!r} is no issuer's address like https://login.example.com/realm",
            where="TOOLCRIB_OIDC_ISSUER",
        )
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"{host}:{port}"
