"""This module gives tests of the command line a program in an empty home."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.environments import Program, make_program


@pytest.fixture
def program(tmp_path: Path) -> Program:
    """The program of this environment, with a home and a data directory of the test's own."""
    return make_program(tmp_path)
