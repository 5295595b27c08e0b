"""This module hashes the code that a plugin brings: every file of its top package, by content.

What it depends on is not part of it. The hash is taken once in a process, for that is the code
that the process runs.
"""

from __future__ import annotations

import hashlib
import json
from functools import lru_cache
from importlib.metadata import Distribution, PackageNotFoundError
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from toolcrib.plugin.changes import Origin

_CODE = frozenset({".py", ".so", ".pyd"})
MOST_FILES = 20_000


@lru_cache(maxsize=1024)
def code_digest(origin: Origin) -> str | None:
    """`sha256:…`; None where no file of it is found. It reads files: not for the event loop."""
    top = origin.value.partition(":")[0].partition(".")[0]
    files = sorted(_files_of(top), key=lambda one: one[0])
    if not files or len(files) > MOST_FILES:
        return None
    whole = hashlib.sha256()
    for name, path in files:
        try:
            content = hashlib.sha256(path.read_bytes()).hexdigest()
        except OSError:
            content = "unreadable"
        whole.update(f"{name}\0{content}\n".encode(errors="surrogateescape"))
    return f"sha256:{whole.hexdigest()}"


def is_editable(distribution: str) -> bool:
    """Whether it is installed from a folder that somebody works in (`pip install -e`)."""
    try:
        found = Distribution.from_name(distribution).read_text("direct_url.json")
        told: Any = json.loads(found or "{}")
        return bool(told["dir_info"]["editable"])
    except (PackageNotFoundError, OSError, ValueError, LookupError, TypeError):
        return False


def _files_of(top: str) -> list[tuple[str, Path]]:
    """`(path inside the package, file)`."""
    try:
        spec = find_spec(top)
    except (ImportError, ValueError, AttributeError):
        return []
    if spec is None:
        return []
    if spec.submodule_search_locations is None:
        return [(top, Path(spec.origin))] if spec.origin else []
    return [
        (path.relative_to(folder).as_posix(), path)
        for folder in map(Path, spec.submodule_search_locations)
        for path in folder.rglob("*")
        if path.suffix in _CODE and path.is_file()
    ]
