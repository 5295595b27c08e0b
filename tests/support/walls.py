"""This module gives tests a sandbox with small limits, where the machine can build walls."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from tests.support.services import missing
from toolcrib.isolation.limits import MIB, Limits
from toolcrib.isolation.probing import Isolation, probe
from toolcrib.isolation.running import Ran
from toolcrib.isolation.sandboxes import Key, Sandboxes

SMALL = Limits(
    seconds=60,
    cpu=30,
    memory=256 * MIB,
    processes=32,
    disk=40 * MIB,
    files=2_000,
    file=30 * MIB,
    temporary=10 * MIB,
    output=16 * MIB,
)


@functools.cache
def isolation() -> Isolation:
    """What this machine can enforce; the test ends here where that is nothing."""
    found = probe()
    if found.walls is None:
        missing(f"{found.reason} ({found.fix})")
    return found


@dataclass(frozen=True, kw_only=True)
class Attacker:
    """Somebody who runs what they like in the sandbox of a chat."""

    sandboxes: Sandboxes
    key: Key
    folder: Path

    async def sh(self, command: str, *, seconds: float = 60, stdin: bytes = b"") -> Ran:
        return await self.sandboxes.run(
            self.key, ("/bin/bash", "-c", command), seconds=seconds, stdin=stdin
        )

    async def py(self, code: str, *, seconds: float = 60) -> Ran:
        return await self.sandboxes.run(self.key, ("python3", "-c", code), seconds=seconds)


def attacker(folder: Path, number: int = 7, limits: Limits = SMALL) -> Attacker:
    sandboxes = Sandboxes(folder, limits=limits, look=isolation)
    key = Key(number=number, uuid=str(uuid4()))  # cgroups are the whole machine's
    return Attacker(sandboxes=sandboxes, key=key, folder=folder / key.name)
