"""This module takes away after a test what it installed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from toolcrib.compat import kortix, primethink
from toolcrib.kit.catalogue import forget_classes
from toolcrib.kit.instances import clear_instances
from toolcrib.kit.mcp_registry import get_mcp_registry


@pytest.fixture(autouse=True)
def _uninstalled() -> Iterator[None]:
    yield
    kortix.uninstall()
    primethink.uninstall()
    forget_classes()
    clear_instances()
    get_mcp_registry().clear()
