"""This module watches how full a sandbox's folder gets while a command runs in it.

What is written between two looks cannot be undone, so a folder that is too full already takes no
more: it may be emptied. One that holds what cannot be counted is not used again.
"""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from toolcrib.errors import CallRefused
from toolcrib.isolation.limits import MIB, Limits
from toolcrib.isolation.running import Ending, Ran
from toolcrib.isolation.usage import Usage, usage_of

RESERVE: Final = 256 * MIB
"""What stays free on the disk, whatever the limits say."""
_BEYOND: Final = 4
"""How many times its files a folder may hold before nothing runs in it any more."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Filling:
    """Made before a command with `begin`; `before` is what the folder held then."""

    folder: Path
    limits: Limits
    before: Usage

    @classmethod
    async def begin(cls, folder: Path, limits: Limits) -> Filling:
        """Raises CallRefused for a folder with far too many files, or folders too deep.

        Raises FileNotFoundError when it is gone.
        """
        most = _BEYOND * limits.files
        before = await asyncio.to_thread(usage_of, folder, most_files=most)
        if before.too_deep or before.files > most:
            what = "folders too deep inside each other" if before.too_deep else "too many files"
            raise CallRefused(
                f"No command is run: the chat's workspace holds {what}.",
                hint="A new chat begins with an empty workspace.",
            )
        return cls(folder=folder, limits=limits, before=before)

    @property
    def full(self) -> bool:
        """Whether nothing more may be written."""
        return self.before.bytes > self.limits.disk

    @property
    def left(self) -> Limits:
        """The limits of the command that is about to run."""
        return replace(self.limits, file=0) if self.full else self.limits

    async def look(self, process: int | None = None) -> Ending | None:
        """Why the command must end now, or None. `process`: whose open files count too."""
        before, limits = self.before, self.limits
        files = max(limits.files, before.files)
        try:
            usage = await asyncio.to_thread(
                usage_of, self.folder, most_files=files, process=process
            )
        except FileNotFoundError:
            return "closed"
        most = before.bytes + MIB if self.full else limits.disk  # folders grow by themselves
        if usage.bytes > most or _nearly_full(self.folder):
            return "disk"
        return "files" if usage.files > files or usage.too_deep else None

    async def judged(self, ran: Ran) -> Ran:
        """The result, with what a command left behind that ended between two looks."""
        why = await self.look() if ran.ended == "exited" else None
        return replace(ran, ended=why or ran.ended, full=self.full)


def _nearly_full(folder: Path) -> bool:
    status = os.statvfs(folder)
    return status.f_bavail * status.f_frsize < RESERVE
