"""This module says what went wrong with a disk that documents are written to."""

from __future__ import annotations

import errno
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from toolcrib.errors import NoSpace, SetupError

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


@contextmanager
def written_to(folder: Path | str) -> Generator[None]:
    """Raises NoSpace for a full disk or a limit that was met, SetupError for any other trouble."""
    try:
        yield
    except OSError as error:
        if error.errno in _FULL:
            raise NoSpace(
                f"There is no room left for documents: {error.strerror}.",
                hint="Whoever runs the server makes room; nothing of the document was kept.",
            ) from error
        raise SetupError(
            f"The folder {str(folder)!r} cannot be written to: {error.strerror or error}.",
            hint="See that it is there and belongs to the user who runs the server.",
        ) from error
