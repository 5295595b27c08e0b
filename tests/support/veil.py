"""This module hides plugins that happen to be installed where the tests run.

`toolcrib demo` installs one into the environment of a clone, and a developer has plugins of their
own. A test is about the plugins that it lays out itself.
"""

from __future__ import annotations

import os
import sys
import tempfile
from functools import cache
from pathlib import Path

_GROUPS = ("[toolcrib.tools]", "[primethink.tools]", "[toolcrib.kit]")


def hide_installed_plugins() -> None:
    """Take them out of what this process finds; what is imported already stays."""
    sys.path[:] = [str(veiled(Path(place))) for place in sys.path]


@cache
def veiled(place: Path) -> Path:
    """A folder of links to everything there but the plugins; the place itself without any."""
    hidden = plugins_in(place)
    if not hidden:
        return place
    folder = Path(tempfile.mkdtemp(prefix="toolcrib-veil-"))
    for entry in os.scandir(place):
        if entry.name not in hidden:
            (folder / entry.name).symlink_to(entry.path)
    return folder


@cache
def plugins_in(place: Path) -> frozenset[str]:
    """Names of `.dist-info` folders that announce plugins, but for Toolcrib's own."""
    return frozenset(
        found.parent.name
        for found in place.glob("*.dist-info/entry_points.txt")
        if not found.parent.name.startswith("toolcrib-")
        and any(group in found.read_text() for group in _GROUPS)
    )
