"""This module lets commands of this machine know where its server listens: a file in the data
directory, there while the server runs."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

_NAME = "server.url"


@contextmanager
def told(data_dir: Path, address: str) -> Generator[None]:
    """Write the address, and take it away at the end unless another server has written its own."""
    file = data_dir / _NAME
    part = file.with_name(f".{_NAME}.{os.getpid()}")
    part.write_text(f"{address}\n")
    part.replace(file)
    try:
        yield
    finally:
        if told_in(data_dir) == address:
            file.unlink(missing_ok=True)


def told_in(data_dir: Path) -> str | None:
    """What a server wrote. It may have died without tidying up: ask it before you believe it."""
    try:
        return (data_dir / _NAME).read_text().strip() or None
    except OSError:
        return None
