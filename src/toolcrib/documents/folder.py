"""This module keeps documents' bytes in a folder, one file each, readable by the owner only."""

from __future__ import annotations

import asyncio
import os
import secrets
from collections.abc import AsyncIterator
from pathlib import Path

from toolcrib.documents.document import MAX_BYTES
from toolcrib.errors import InvalidRequest, NotFound


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
        await asyncio.to_thread(path.parent.mkdir, parents=True, exist_ok=True, mode=0o700)
        handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            async for chunk in chunks:
                size += len(chunk)
                if size > limit:
                    raise InvalidRequest(
                        f"The document is larger than {limit} bytes.",
                        where="file",
                        hint="Send a smaller file.",
                    )
                await asyncio.to_thread(_write_all, handle, chunk)
            await asyncio.to_thread(os.rename, part, path)
        except BaseException:
            part.unlink(missing_ok=True)
            raise
        finally:
            os.close(handle)
        return key, size

    async def read(self, key: str) -> bytes:
        try:
            return await asyncio.to_thread(self._path(key).read_bytes)
        except FileNotFoundError:
            raise NotFound("The document's bytes are gone from the folder.") from None

    async def delete(self, key: str) -> None:
        await asyncio.to_thread(self._path(key).unlink, missing_ok=True)

    def _path(self, key: str) -> Path:
        if len(key) != 32 or any(c not in "0123456789abcdef" for c in key):
            raise NotFound("That is not the key of a document.")
        return self._root / key[:2] / key


def _write_all(handle: int, chunk: bytes) -> None:
    view = memoryview(chunk)
    while view:
        view = view[os.write(handle, view) :]
