"""This module checks a token that an issuer signed: whose it is, for whom, and until when.

A refusal says what is wrong with the token, never what stands in it.
"""

from __future__ import annotations

import binascii
import json
from base64 import urlsafe_b64decode
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from math import isnan
from typing import Any, cast

from toolcrib.errors import NotAuthenticated
from toolcrib.identity.issuers import ALGORITHMS

LEEWAY = 30
"""How many seconds two clocks may differ."""
LONGEST = 16 * 1024
"""How many characters a token may have."""
_TYPES = frozenset({"jwt", "at+jwt", "application/jwt", "application/at+jwt"})
_FAMILIES = {"RS": "RSA", "PS": "RSA", "ES": "EC", "Ed": "OKP"}
_SMALLEST_RSA = 2048

Claims = Mapping[str, Any]


def looks_issued(text: str) -> bool:
    """Whether a text has the form of a signed token (three parts, the first a JSON header)."""
    return header_of(text) is not None


def header_of(text: str) -> Mapping[str, Any] | None:
    """A token's header, of which nothing is proved yet; None for a text of another form."""
    parts = text.split(".")
    if len(parts) != 3 or len(text) > LONGEST:
        return None
    head = parts[0]
    try:
        found: object = json.loads(urlsafe_b64decode(head + "=" * (-len(head) % 4)))
    except (ValueError, binascii.Error, RecursionError):
        return None
    if not isinstance(found, dict) or "alg" not in found:
        return None
    return cast("dict[str, Any]", found)


def verified(text: str, keys: Sequence[Mapping[str, Any]]) -> Claims:
    """The claims, once one of the keys proved them. Raises NotAuthenticated."""
    from joserfc import jwk, jwt  # noqa: PLC0415 - only where an issuer is set
    from joserfc.errors import JoseError  # noqa: PLC0415

    header = header_of(text) or {}
    algorithm = header.get("alg")
    if algorithm not in ALGORITHMS:
        raise _refused("it is not signed with a private key in a way that is taken here")
    if str(header.get("typ", "jwt")).lower() not in _TYPES:
        raise _refused("it is not an access token: its typ says otherwise")
    candidates = list(_fitting(keys, str(algorithm), header.get("kid")))
    if not candidates:
        raise _refused("the issuer has no key that fits it")
    for candidate in candidates:
        try:
            key = jwk.import_key(dict(candidate))
            return jwt.decode(text, key, algorithms=[str(algorithm)]).claims
        except (JoseError, ValueError, TypeError, RecursionError):
            continue
    raise _refused("its signature is not the issuer's")


def check(claims: Claims, *, issuer: str, audiences: Collection[str], now: datetime) -> datetime:
    """When the token ends. Raises NotAuthenticated unless it is good here and now."""
    if claims.get("iss") != issuer:
        raise _refused("it is another issuer's")
    if not _audiences(claims.get("aud")) & frozenset(audiences):
        raise _refused("it was issued for somebody else: its audience is not this server")
    ends = _moment(claims, "exp")
    if ends is None:
        raise _refused("it does not say when it ends")
    second = now.timestamp()
    if ends <= second - LEEWAY:
        raise _refused("it has expired")
    for name in ("nbf", "iat"):
        begins = _moment(claims, name)
        if begins is not None and begins > second + LEEWAY:
            raise _refused("it is not valid yet")
    if "cnf" in claims:
        raise _refused("it is bound to a key of its holder, which is not checked here")
    try:
        return datetime.fromtimestamp(ends + LEEWAY, UTC)
    except (OverflowError, ValueError, OSError):
        return datetime.max.replace(tzinfo=UTC)


def _fitting(
    keys: Sequence[Mapping[str, Any]], algorithm: str, kid: object
) -> Iterator[Mapping[str, Any]]:
    """The keys that may have signed it. A key says of itself what it is for, and is believed."""
    for key in keys:
        named = kid is None or key.get("kid") in (None, kid)
        family = key.get("kty") == _FAMILIES[algorithm[:2]]
        meant = key.get("use", "sig") == "sig" and key.get("alg", algorithm) == algorithm
        if named and family and meant and not _weak(key):
            yield {name: value for name, value in key.items() if name not in {"x5c", "x5u"}}


def _weak(key: Mapping[str, Any]) -> bool:
    if key.get("kty") != "RSA":
        return False
    modulus = str(key.get("n", ""))
    return len(modulus) * 6 < _SMALLEST_RSA - 8


def _audiences(given: object) -> frozenset[str]:
    if isinstance(given, str):
        return frozenset({given})
    if isinstance(given, list):
        return frozenset(one for one in cast("list[object]", given) if isinstance(one, str))
    return frozenset()


def _moment(claims: Claims, name: str) -> float | None:
    """A NumericDate; None where there is none. Raises NotAuthenticated for anything else."""
    value = claims.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or isnan(value):
        raise _refused(f"its {name} is no time")
    return float(min(value, 1e11))


def _refused(why: str) -> NotAuthenticated:
    return NotAuthenticated(f"The token is not valid: {why}.")
