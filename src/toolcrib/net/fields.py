"""This module says which header fields a request may carry: the one place for whoever writes them.

A definition is checked by it when it is stored, a request once more before it is sent.
"""

from __future__ import annotations

import re
from functools import lru_cache

_TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+", re.ASCII)
_UNSENDABLE = re.compile(r"[\x00-\x08\x0a-\x1f\x7f\ud800-\udfff]")
_OF_THE_CONNECTION = frozenset(
    {
        "connection",
        "content-length",
        "expect",
        "host",
        "keep-alive",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)
"""What the connection sets by itself: another value would end the request elsewhere."""


@lru_cache(maxsize=4096)
def is_name(name: str) -> bool:
    """Whether it is a field's name (a token of RFC 9110). Names come from definitions: few."""
    return _TOKEN.fullmatch(name) is not None


@lru_cache(maxsize=4096)
def is_of_connection(name: str) -> bool:
    """Whether the field is the connection's own business."""
    return name.lower() in _OF_THE_CONNECTION


def can_be_sent(value: str) -> bool:
    """Whether a value cannot end its line: no control characters but tabs, no half characters."""
    return _UNSENDABLE.search(value) is None
