"""This module finds the tool classes that installed distributions announce.

    [project.entry-points."toolcrib.kit"]
    browser_tool = "my_browser:BrowserTool"

The name is the group's in the catalogue; one that the catalogue does not list joins the category
that the class's metadata names.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from importlib.metadata import EntryPoint

from toolcrib.plugin.finding import find_plugins

GROUP = "toolcrib.kit"
OURS = "toolcrib"
"""The distribution that brings the tools in the box."""
_lock = threading.Lock()
_known: dict[str, EntryPoint] | None = None


def announced() -> Mapping[str, EntryPoint]:
    """Entry points by name, read once.

    Of two with one name the first distribution's counts, and the tools in the box come last: who
    installs another one of a name wants that one.
    """
    global _known  # noqa: PLW0603 - read when it is first needed
    with _lock:
        if _known is None:
            found: dict[str, EntryPoint] = {}
            for one in sorted(find_plugins((GROUP,)), key=lambda f: f.distribution == OURS):
                if one.broken is None:
                    found.setdefault(one.name, EntryPoint(one.name, one.value, GROUP))
            _known = found
        return _known


def forget_announced() -> None:
    """Look again at the next question: distributions were installed or removed."""
    global _known  # noqa: PLW0603 - the same
    with _lock:
        _known = None
