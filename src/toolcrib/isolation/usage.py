"""This module measures what a hostile folder holds, in bounded time.

Files are walked by descriptors, so that no folder exchanged for a link leads elsewhere. Files
that were unlinked while they are open or mapped still fill the disk: they are found among what the
sandbox's processes hold. What none of them holds, but a socket on its way between two, is not
found: of that the disk's reserve takes care.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

DEEPEST: Final = 100
"""Folders inside each other; more are taken for an attempt to hide something."""
_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(kw_only=True, slots=True)
class Usage:
    bytes: int = 0
    files: int = 0
    too_deep: bool = False


def usage_of(folder: Path, *, most_files: int, process: int | None = None) -> Usage:
    """Stops counting beyond `most_files`. `process`: whose descendants' open files count too.

    Raises FileNotFoundError when the folder is gone.
    """
    usage = Usage()
    top = os.open(folder, _FOLDER)
    try:
        if os.fstat(top).st_nlink == 0:
            raise FileNotFoundError(folder)
        _walk(top, usage, most_files, 0)
        if process is not None:
            usage.bytes += sum(_unlinked(process, os.fstat(top).st_dev).values())
    finally:
        os.close(top)
    return usage


def _walk(folder: int, usage: Usage, most_files: int, depth: int) -> None:
    if depth > DEEPEST:
        usage.too_deep = True
        return
    with os.scandir(folder) as entries:
        for entry in entries:
            if usage.files > most_files:
                return
            usage.files += 1
            with suppress(OSError):
                usage.bytes += entry.stat(follow_symlinks=False).st_blocks * 512
                if entry.is_dir(follow_symlinks=False):
                    inside = os.open(entry.name, _FOLDER, dir_fd=folder)
                    try:
                        _walk(inside, usage, most_files, depth + 1)
                    finally:
                        os.close(inside)


def _unlinked(process: int, device: int) -> dict[int, int]:
    """Inode → bytes of files on this device that have no name any more."""
    found: dict[int, int] = {}
    for pid in _descendants(process):
        for path in (*_opened(pid), *_mapped(pid)):
            with suppress(OSError):
                status = path.stat()
                regular = stat.S_ISREG(status.st_mode)
                if regular and status.st_nlink == 0 and status.st_dev == device:
                    found[status.st_ino] = status.st_blocks * 512
    return found


def _opened(pid: int) -> Iterator[Path]:
    with suppress(OSError):
        yield from Path(f"/proc/{pid}/fd").iterdir()


def _mapped(pid: int) -> Iterator[Path]:
    """Of memory that shows a file without a name. The way to the file itself is root's alone."""
    with suppress(OSError), Path(f"/proc/{pid}/maps").open("rb") as lines:
        for line in lines:
            if line.endswith(b" (deleted)\n"):
                start, end = line.split(b" ", 1)[0].split(b"-")
                yield Path(f"/proc/{pid}/map_files/{int(start, 16):x}-{int(end, 16):x}")


def _descendants(process: int) -> Iterator[int]:
    waiting = [process]
    while waiting:
        pid = waiting.pop()
        yield pid
        with suppress(OSError):
            for thread in Path(f"/proc/{pid}/task").iterdir():
                children = (thread / "children").read_text()
                waiting += map(int, children.split())
