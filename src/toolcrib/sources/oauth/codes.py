"""This module makes the code that a person carries from the browser back to where they began.

Eight consonants: no words, nothing to mistake for a digit, 34 bits. It is tried a few times only.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets

_LETTERS = "BCDFGHJKLMNPQRSTVWXZ"
_LENGTH = 8
_BETWEEN = re.compile(r"[\s-]+")


def new_code() -> str:
    """One as it is shown: `WDJB-MJHT`."""
    letters = "".join(secrets.choice(_LETTERS) for _ in range(_LENGTH))
    return f"{letters[:4]}-{letters[4:]}"


def digest_of(text: str, *, salt: str = "") -> str:
    """SHA-256 (hex); what can be guessed goes with a salt."""
    return hashlib.sha256(f"{salt}{text}".encode()).hexdigest()


def code_digest(code: str, *, salt: str) -> str:
    """The digest of a code however it was typed: in small letters, without the line."""
    return digest_of(_BETWEEN.sub("", code).upper(), salt=salt)


def same(one: str, other: str | None) -> bool:
    """Whether two digests are one, in a time that tells nothing."""
    return other is not None and hmac.compare_digest(one.encode(), other.encode())
