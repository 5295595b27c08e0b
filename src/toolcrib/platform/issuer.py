"""This module lets in whoever comes with a token of the issuer that the operator trusts."""

from __future__ import annotations

from toolcrib.identity.arriving import Arrivals
from toolcrib.identity.authentication import now
from toolcrib.identity.issuers import TrustedIssuer
from toolcrib.net.client import GuardedClient
from toolcrib.net.guard import EgressPolicy
from toolcrib.net.oidc_keys import IssuerKeys, place_of
from toolcrib.settings import Settings
from toolcrib.storage import Storage


class Issuer:
    """`arrivals` is None where no issuer is set. `close` it in the end."""

    def __init__(self, settings: Settings, storage: Storage) -> None:
        self._client: GuardedClient | None = None
        self.arrivals: Arrivals | None = None
        if not settings.oidc_issuer:
            return
        allowed = (*settings.egress_allow, place_of(settings.oidc_issuer))
        self._client = GuardedClient(
            EgressPolicy(allowed), proxy=settings.egress_proxy.get_secret_value()
        )

        async def changed() -> None:
            await storage.signals.bump("identity")

        self.arrivals = Arrivals(
            trusted(settings),
            IssuerKeys(settings.oidc_issuer, self._client),
            users=storage.users,
            groups=storage.groups,
            changed=changed,
            clock=now,
        )

    async def close(self) -> None:
        if self._client is not None:
            await self._client.close()


def trusted(settings: Settings) -> TrustedIssuer:
    """What the settings say of the issuer. The server's own address is an audience."""
    public = settings.public_url.rstrip("/")
    own = {public, f"{public}/"} if public else set[str]()
    return TrustedIssuer(
        url=settings.oidc_issuer,
        audiences=frozenset(settings.oidc_audience) | own,
        user_claim=settings.oidc_user_claim,
        groups_claim=settings.oidc_groups_claim,
        provision=settings.oidc_provision,
        super_admins=settings.oidc_super_admins,
    )
