"""This module finds ports for servers that are told theirs, that come back to it, or are not there.

Whoever listens at any free port gets one of the system's range, as does whoever connects: a port of
that range that was free a moment ago may be another test's by now. These are not of that range.
"""

from __future__ import annotations

import random
import socket
from pathlib import Path

_RANGE = Path("/proc/sys/net/ipv4/ip_local_port_range")
_LOWEST = 10_000


def quiet_port() -> int:
    """A port of loopback where nobody listens, and that nobody is given by chance."""
    highest = int(_RANGE.read_text().split()[0]) if _RANGE.exists() else 32_768
    chance = random.SystemRandom()
    while True:
        port = chance.randrange(_LOWEST, highest)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
