"""This module brings a host name or address literal into its one canonical form, or refuses it.

Numbers that some resolvers read as an IPv4 address (`2130706433`, `0x7f.1`, `127.1`, `0177.0.0.1`)
are refused, never guessed; full-width digits and dots become what they stand for and are then
judged. So a host that passes means the same to every resolver.
"""

from __future__ import annotations

import re
from ipaddress import AddressValueError, IPv4Address, IPv6Address

from yarl import URL

from toolcrib.net.addresses import Address

_LABEL = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?", re.ASCII)
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*", re.ASCII)
MAX_HOST = 253


class BadHost(ValueError):
    """The text is no usable host; the message says why, without the culprit."""


def canonical_host(text: str) -> tuple[str, Address | None]:
    """`(host, address)`: lower-case ASCII without a final dot; `address` where it is a literal.

    IPv6 literals come in their brackets and leave without. Raises BadHost.
    """
    if text.startswith("["):
        return _literal_v6(text)
    if not text.isascii():
        text = _ascii(text)
    host = text.lower().removesuffix(".")
    if not host:
        raise BadHost("it is empty")
    if len(host) > MAX_HOST:
        raise BadHost(f"it is longer than {MAX_HOST} characters")
    labels = host.split(".")
    if _NUMBER.fullmatch(labels[-1]):
        return _literal_v4(host)
    if not all(_LABEL.fullmatch(label) for label in labels):
        raise BadHost("it is not a host name")
    return host, None


def _literal_v4(host: str) -> tuple[str, Address]:
    try:
        return host, IPv4Address(host)
    except AddressValueError:
        raise BadHost("it is a number that could mean several addresses") from None


def _literal_v6(text: str) -> tuple[str, Address]:
    if "%" in text:
        raise BadHost("an address with a zone cannot be used")
    if not text.endswith("]"):
        raise BadHost("it is not an IPv6 address")
    try:
        address = IPv6Address(text[1:-1])
    except AddressValueError:
        raise BadHost("it is not an IPv6 address") from None
    return str(address), address


def _ascii(text: str) -> str:
    """The name as DNS knows it (IDNA), by the rules of the URL library that sends it."""
    try:
        return URL.build(scheme="https", host=text).raw_host or ""
    except ValueError:
        raise BadHost("it is not a host name") from None
