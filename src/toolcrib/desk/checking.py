"""This module checks what every noun takes: names, entitlements, hosts, values."""

from __future__ import annotations

import re
from collections.abc import Iterable

from toolcrib.errors import InvalidRequest
from toolcrib.secrets.binding import wrong_with
from toolcrib.secrets.masking import MIN_LENGTH

MAX_NAME = 255
MIN_PASSWORD = 8
MAX_PASSWORD = 1024
MAX_VALUE = 64 * 1024
"""The longest value of a setting or secret, in characters."""
_ENTITLEMENT = re.compile(r"[a-z][a-z0-9_-]{0,63}")


def checked_name(name: str, *, where: str = "name") -> str:
    """The name without blanks around it. Raises InvalidRequest for one that nobody could read."""
    trimmed = name.strip()
    if not trimmed:
        raise InvalidRequest("The name is empty.", where=where)
    if len(trimmed) > MAX_NAME:
        raise InvalidRequest(f"The name is longer than {MAX_NAME} characters.", where=where)
    if not trimmed.isprintable():
        raise InvalidRequest("The name holds a control character.", where=where)
    return trimmed


def checked_entitlements(entitlements: Iterable[str]) -> frozenset[str]:
    """Raises InvalidRequest for one that is not a word in lowercase."""
    found = frozenset(entitlements)
    for one in sorted(found):
        if not _ENTITLEMENT.fullmatch(one):
            raise InvalidRequest(
                f"{one!r} cannot be an entitlement.",
                where="entitlements",
                hint="Use a lowercase word, such as chat or idp.",
            )
    return found


def checked_password(password: str) -> str:
    """Raises InvalidRequest; the message never shows the password."""
    if not MIN_PASSWORD <= len(password) <= MAX_PASSWORD:
        raise InvalidRequest(
            f"A password has {MIN_PASSWORD} to {MAX_PASSWORD} characters.", where="password"
        )
    return password


def checked_hosts(hosts: Iterable[str]) -> tuple[str, ...]:
    """Lowercase, each once: `host`, `host:port` or `*.domain`. Raises InvalidRequest."""
    found = list(dict.fromkeys(host.strip().lower() for host in hosts))
    for place, host in enumerate(found):
        cause = wrong_with(host)
        if cause is not None:
            raise InvalidRequest(
                f"A value cannot be limited to {host!r}: {cause}.",
                where=f"hosts.{place}",
                hint="Write api.example.com, api.example.com:8443 or *.example.com.",
            )
    return tuple(found)


def notes_on(name: str, value: str) -> tuple[str, ...]:
    """What whoever stores a value should know about it. Raises InvalidRequest for one too long."""
    if len(value) > MAX_VALUE:
        raise InvalidRequest(f"The value is longer than {MAX_VALUE} characters.", where="value")
    if not value.strip():
        return (f"The value of {name!r} is blank: it counts as missing.",)
    if len(value) < MIN_LENGTH:
        short = f"The value of {name!r} has fewer than {MIN_LENGTH} characters: "
        return (short + "results and logs are not searched for it.",)
    return ()
