"""This module gives plugin tests a folder on the import path and takes its modules away again."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from toolcrib.plugin.registration import Registry

_OURS = ("toolcrib", "tests")


@pytest.fixture
def registry() -> Registry:
    """A registry of this test's own."""
    return Registry()


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder where installed distributions are found; what they import is forgotten after."""
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(folder)
    before = set(sys.modules)
    yield folder
    for name in set(sys.modules) - before:
        module = getattr(sys.modules[name], "__file__", None) or ""
        if str(folder) in module:
            del sys.modules[name]
