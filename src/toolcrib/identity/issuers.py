"""This module describes the OIDC issuer that an operator trusts, and where its keys come from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

ALGORITHMS = (
    "RS256",
    "RS384",
    "RS512",
    "PS256",
    "PS384",
    "PS512",
    "ES256",
    "ES384",
    "ES512",
    "EdDSA",
    "Ed25519",
)
"""Signatures of a private key. Neither `none` nor a shared secret: anybody could make those."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TrustedIssuer:
    """Whose tokens are taken, for whom they must be, and what they say of a user."""

    url: str
    """As the issuer writes it in `iss`, to the letter."""
    audiences: frozenset[str]
    user_claim: str = "sub"
    """The claim that holds the name of a user here."""
    groups_claim: str = ""
    """The claim that lists the names of a user's groups; empty: groups are kept here."""
    provision: bool = False
    """Whether a user whom nobody made is made when they come."""
    super_admins: bool = False
    """Whether the issuer's word is enough for a super-admin."""


class SigningKeys(Protocol):
    """The issuer's public keys, as JWKs."""

    async def keys(self, kid: str | None) -> Sequence[Mapping[str, Any]]:
        """All of them; looked for anew, not too often, when none has this id.

        Raises SetupError when the issuer cannot be asked and no keys are known.
        """
        ...
