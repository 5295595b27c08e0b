"""This module answers host names from a script, for tests of what connects where."""

from __future__ import annotations

import socket
from collections.abc import Mapping, Sequence


class ScriptedResolver:
    """One answer per question, in order; the last one stays. An unknown host does not resolve.

    `ScriptedResolver({"a.test": [["93.184.216.34"], ["127.0.0.1"]]})` answers a public address
    once and loopback from then on. `asked` is every question so far.
    """

    def __init__(self, script: Mapping[str, Sequence[Sequence[str]]]) -> None:
        self.asked: list[str] = []
        self._script = {host: list(answers) for host, answers in script.items()}

    async def resolve(self, host: str, port: int) -> Sequence[str]:
        self.asked.append(host)
        answers = self._script.get(host)
        if answers is None:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return answers.pop(0) if len(answers) > 1 else answers[0]

    async def close(self) -> None:
        """Nothing is open."""
