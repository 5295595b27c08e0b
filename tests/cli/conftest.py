"""This module gives tests of the command line a program in an empty home, and one where the demo
was played."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.support.environments import Program, install, make_environment, make_program

EXAMPLE = Path(__file__).parents[2] / "examples" / "toolcrib-hello"


@pytest.fixture
def program(tmp_path: Path) -> Program:
    """The program of this environment, with a home and a data directory of the test's own."""
    return make_program(tmp_path)


@pytest.fixture(scope="session")
def played(tmp_path_factory: pytest.TempPathFactory) -> tuple[Program, dict[str, Any]]:
    """The program in an environment with the example plugin, after the demo; and its facts."""
    folder = tmp_path_factory.mktemp("played")
    python = make_environment(folder / "env")
    install(python, EXAMPLE)
    program = make_program(folder, python=python)
    done = program.run("demo", "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    return program, json.loads(done.stdout)


@pytest.fixture
def demo(played: tuple[Program, dict[str, Any]], tmp_path: Path) -> Program:
    """The program after the demo, with a copy of its data that the test may change."""
    program, _ = played
    data_dir = shutil.copytree(program.data_dir, tmp_path / "data")
    home = tmp_path / "home"
    home.mkdir()
    return replace(program, data_dir=data_dir, home=home)
