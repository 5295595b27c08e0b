"""This module keeps the vault's keys in a file that only its owner may read."""

from __future__ import annotations

import fcntl
import os
import secrets
from collections.abc import Sequence
from pathlib import Path

from toolcrib.errors import InvalidSettings, SetupError
from toolcrib.secrets.sealing import new_key


class KeyFile:
    """One key a line, newest first. `created` says whether this process made the file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.created = False
        self._seen: tuple[int, int] | None = None
        self._keys: tuple[str, ...] = ()

    def keys(self) -> Sequence[str]:
        """The keys as they are now; the first call on a new installation makes one. Raises
        SetupError when the file cannot be read."""
        if not self.path.exists():
            self._create()
        try:
            status = self.path.stat()
            stamp = (status.st_mtime_ns, status.st_ino)
            if stamp != self._seen:
                self._keys = tuple(self.path.read_text().split())
                self._seen = stamp
        except (OSError, UnicodeDecodeError) as error:
            why = error.strerror if isinstance(error, OSError) else "it is no text"
            raise SetupError(
                f"The key file {str(self.path)!r} cannot be read: {why}.",
                hint="It belongs to the user who runs the server, who may read it.",
            ) from error
        if not self._keys:
            raise InvalidSettings(
                f"The key file {str(self.path)!r} is empty.",
                hint="Restore it from a backup; values sealed with a lost key cannot be read.",
            )
        return self._keys

    def add(self) -> None:
        """Put a new key before the others, in one step; two at once add two."""
        self.keys()
        place = os.open(self.path.parent, os.O_RDONLY)
        try:
            fcntl.flock(place, fcntl.LOCK_EX)
            part = self._written("\n".join([new_key(), *self.keys()]) + "\n")
            part.replace(self.path)
        finally:
            os.close(place)

    def _create(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        part = self._written(new_key() + "\n")
        try:
            os.link(part, self.path)
            self.created = True
        except FileExistsError:
            pass  # another process was first, and its key is as good
        finally:
            part.unlink()

    def _written(self, text: str) -> Path:
        part = self.path.with_name(f".{self.path.name}.{secrets.token_hex(4)}")
        handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        return part
