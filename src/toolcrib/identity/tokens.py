"""This module makes and reads tokens and passwords: only digests are ever kept."""

from __future__ import annotations

import functools
import hashlib
import secrets
from dataclasses import dataclass, field

from argon2 import PasswordHasher
from argon2.exceptions import Argon2Error, InvalidHashError

PREFIX = "tcrib_"
"""Every token starts so: scanners for leaked credentials can find it."""


@dataclass(frozen=True, slots=True)
class NewToken:
    """A token that was just made. `text` is shown once; `repr` hides it."""

    id: str
    digest: str
    text: str = field(repr=False)


def new_token() -> NewToken:
    """256 random bits, so one SHA-256 is enough to keep it safe at rest."""
    text = PREFIX + secrets.token_urlsafe(32)
    return NewToken(id="tok_" + secrets.token_hex(8), digest=digest(text), text=text)


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def bearer(header: str | None) -> str | None:
    """The token of an `Authorization` header; `Bearer` and PrimeThink's `Token` both work."""
    scheme, _, rest = (header or "").strip().partition(" ")
    return rest.strip() or None if scheme.lower() in {"bearer", "token"} else None


_passwords = PasswordHasher()


def hash_password(password: str) -> str:
    """Argon2id with the library's parameters. Slow on purpose: call it off the event loop."""
    return _passwords.hash(password)


def password_matches(password: str, stored: str | None) -> bool:
    """Compare in the same time whether or not the user has a password."""
    nobody = _nobody()
    try:
        return _passwords.verify(stored or nobody, password) and stored is not None
    except (Argon2Error, InvalidHashError):
        return False


@functools.cache
def _nobody() -> str:
    """The hash of a password that nobody has. Made when first needed: it takes a fifth of a second
    that programs without passwords need not wait for."""
    return _passwords.hash(secrets.token_hex(16))
