"""This module keeps documents' bytes in a folder, one file each, readable by the owner only."""

from __future__ import annotations

import asyncio
import os
import secrets
import threading
from collections.abc import AsyncIterator
from pathlib import Path

from toolcrib.documents.document import MAX_BYTES, too_large
from toolcrib.documents.room import written_to
from toolcrib.errors import NotFound, SetupError


class FolderBlobStore:
    """Files named by random keys, spread over 256 folders; a name from outside is never used."""

    def __init__(self, root: Path) -> None:
        self._root = root

    async def write(
        self, chunks: AsyncIterator[bytes], *, limit: int = MAX_BYTES
    ) -> tuple[str, int]:
        key = secrets.token_hex(16)
        path = self._path(key)
        part = path.with_suffix(".part")
        size = 0
        with written_to(self._root):
            await asyncio.to_thread(path.parent.mkdir, parents=True, exist_ok=True, mode=0o700)
            file = PartFile(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        try:
            async for chunk in chunks:
                size += len(chunk)
                if size > limit:
                    raise too_large(limit)
                with written_to(self._root):
                    await asyncio.to_thread(file.write, chunk)
            with written_to(self._root):
                await asyncio.to_thread(os.rename, part, path)
        except BaseException:
            part.unlink(missing_ok=True)
            raise
        finally:
            file.close()
        return key, size

    async def read(self, key: str, *, limit: int = MAX_BYTES) -> bytes:
        try:
            data = await asyncio.to_thread(_read_some, self._path(key), limit + 1)
        except FileNotFoundError:
            raise NotFound("The document's bytes are gone from the folder.") from None
        if len(data) > limit:
            raise too_large(limit)
        return data

    async def delete(self, key: str) -> None:
        await asyncio.to_thread(self._path(key).unlink, missing_ok=True)

    async def ping(self) -> None:
        if not await asyncio.to_thread(self._usable):
            raise SetupError(f"The folder {str(self._root)!r} cannot be written to.")

    async def close(self) -> None:
        """Nothing stays open."""

    def _usable(self) -> bool:
        """It is made when the first document comes."""
        return os.access(self._root, os.W_OK | os.X_OK) or not self._root.exists()

    def _path(self, key: str) -> Path:
        if len(key) != 32 or any(c not in "0123456789abcdef" for c in key):
            raise NotFound("That is not the key of a document.")
        return self._root / key[:2] / key


def _read_some(path: Path, size: int) -> bytes:
    with path.open("rb") as file:
        return file.read(size)


class PartFile:
    """An open file that threads write to.

    Whoever waits for a write may be cancelled while the thread still writes. Closed under it, the
    number of the file could become another file's, and the rest would be written there.
    """

    def __init__(self, handle: int) -> None:
        self._handle: int | None = handle
        self._turn = threading.Lock()

    def write(self, chunk: bytes) -> None:
        """The whole chunk; nothing once the file is closed."""
        with self._turn:
            view = memoryview(chunk)
            while view and self._handle is not None:
                view = view[os.write(self._handle, view) :]

    def close(self) -> None:
        """As soon as nobody writes."""
        with self._turn:
            if self._handle is not None:
                os.close(self._handle)
            self._handle = None
