"""This module seals what a login brought, and reads it again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

import orjson

from toolcrib.errors import SecretUndecryptable
from toolcrib.net.oauth_tokens import Client, Tokens
from toolcrib.secrets.logins import LoginDraft, LoginStore
from toolcrib.secrets.sealing import Sealer

Clock = Callable[[], datetime]


@dataclass(frozen=True, kw_only=True, slots=True)
class Kept:
    """All of a login that is secret, and where it may go: nowhere else."""

    access: str = field(repr=False)
    refresh: str | None = field(default=None, repr=False)
    token_endpoint: str
    revocation_endpoint: str | None = None
    client: Client = field(repr=False)
    resource: str | None = None
    """How the server spells its own address, where it said so."""


def sealed(kept: Kept, sealer: Sealer) -> bytes:
    return sealer.seal(orjson.dumps(asdict(kept)).decode())


def unsealed(data: bytes, sealer: Sealer, *, name: str) -> Kept:
    """Raises SecretUndecryptable."""
    found: dict[str, Any] = orjson.loads(sealer.unseal(data, name=name))
    client = Client(**found.pop("client"))
    return Kept(**found, client=client)


def drafted(
    kept: Kept,
    tokens: Tokens,
    *,
    issuer: str,
    resource: str,
    scopes: tuple[str, ...],
    renewable: bool,
    made: str,
    sealer: Sealer,
    now: datetime,
) -> LoginDraft:
    """The row of a login whose tokens just came; `scopes` are those that were asked for."""
    ends = None if tokens.lives is None else now + timedelta(seconds=tokens.lives)
    return LoginDraft(
        issuer=issuer,
        resource=resource,
        scopes=tokens.scopes if tokens.scopes is not None else scopes,
        status="connected",
        expires_at=ends,
        renewable=renewable,
        sealed=sealed(kept, sealer),
        made=made,
    )


def with_tokens(kept: Kept, tokens: Tokens) -> Kept:
    """A server that gives no new refresh token lets the old one stand."""
    return replace(kept, access=tokens.access, refresh=tokens.refresh or kept.refresh)


async def rotate(store: LoginStore, sealer: Sealer) -> int:
    """Seal everything with the newest key; returns how many. Undecryptable ones stay."""
    count = 0
    for place, data in await store.sealed():
        try:
            text = sealer.unseal(data, name=place)
        except SecretUndecryptable:
            continue
        await store.replace_sealed(place, before=data, after=sealer.seal(text))
        count += 1
    return count
