"""This module keeps the folders of sandboxes: each appears whole, and goes in one step.

Several processes of ours share the place: whoever makes or takes away a folder holds its lock.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
import secrets
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

from toolcrib.isolation.programs import PATH

_GONE = ".gone-"
_NEW = ".new-"


class Folders:
    """Folders by name under one place, which is made with the first of them."""

    def __init__(self, place: Path) -> None:
        self._place = place

    def names(self) -> list[str]:
        """The folders that are there."""
        return [name for name in self._all() if not name.startswith((_GONE, _NEW))]

    def made(self, name: str, owner: int | None) -> Path:
        """The folder, made where there is none: nobody sees it before it is its owner's."""
        folder = self._place / name
        if folder.exists():
            return folder
        self._place.mkdir(mode=0o700, parents=True, exist_ok=True)
        with self._locked():
            if not folder.exists():
                new = self._place / f"{_NEW}{name}"
                if new.exists():  # of a process that died at this very place
                    new.rmdir()
                new.mkdir(mode=0o700)
                if owner is not None:
                    os.chown(new, owner, owner)
                new.rename(folder)
        return folder

    async def remove(self, name: str) -> bool:
        """Take the folder away, then what is in it; whether there was one."""
        folder = self._place / name
        if not folder.exists():
            return False
        with self._locked():
            if not folder.exists():
                return False
            gone = self._place / f"{_GONE}{name}-{secrets.token_hex(4)}"
            folder.rename(gone)
        await self._remove([gone])
        return True

    async def clear(self) -> None:
        """Remove what processes that died have left of folders that are gone."""
        await self._remove([self._place / name for name in self._all() if name.startswith(_GONE)])

    def _all(self) -> list[str]:
        return [path.name for path in self._place.iterdir()] if self._place.exists() else []

    async def _remove(self, gone: Sequence[Path]) -> None:
        """By a program that crosses into no other disk, however deep the folders are."""
        if gone:
            remover = await asyncio.create_subprocess_exec(
                *("rm", "-rf", "--one-file-system", "--", *map(str, gone)), env={"PATH": PATH}
            )
            await remover.wait()

    @contextmanager
    def _locked(self) -> Generator[None]:
        """Held for a few system calls, and let go by the system when its process dies."""
        handle = os.open(self._place, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)
