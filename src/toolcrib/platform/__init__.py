"""This package is the composition root: it opens every part, gives each what it needs, and closes
them in reverse. Nothing else picks storage, and nothing else starts background work."""

from __future__ import annotations

from toolcrib.platform.alone import alone
from toolcrib.platform.bare import Bare, bare
from toolcrib.platform.kinds import package_kinds
from toolcrib.platform.opening import Opening, current_platform, open_platform
from toolcrib.platform.platform import Platform

__all__ = [
    "Bare",
    "Opening",
    "Platform",
    "alone",
    "bare",
    "current_platform",
    "open_platform",
    "package_kinds",
]
