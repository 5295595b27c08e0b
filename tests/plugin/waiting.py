"""This module waits for a plugin that is still loading when discovery has given it up."""

from __future__ import annotations

import asyncio
import sys
from types import ModuleType


async def imported(name: str) -> ModuleType:
    """The module, once all of its lines were run; the test's own time limit ends the wait."""
    while True:
        module = sys.modules.get(name)
        spec = getattr(module, "__spec__", None)
        if module is not None and not getattr(spec, "_initializing", False):
            return module
        await asyncio.sleep(0.01)
