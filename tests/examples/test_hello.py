"""The example plugin: installed for real, its own tests pass and Toolcrib finds its tools."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "toolcrib-hello"
DISCOVER = """
import json
from toolcrib import discover_plugins, get_capability_meta
names = discover_plugins()
metas = [get_capability_meta(code) for code in ("hello", "hello_notes")]
print(json.dumps([names, {meta["name"]: meta["tool_names"] for meta in metas}]))
"""


def run(*command: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the example, so that building it leaves nothing behind."""
    place = tmp_path_factory.mktemp("example") / EXAMPLE.name
    return shutil.copytree(EXAMPLE, place, ignore=shutil.ignore_patterns("__pycache__", ".*"))


@pytest.fixture(scope="module")
def site(example: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A folder of packages with the example's distribution in it."""
    target = str(tmp_path_factory.mktemp("site"))
    done = run(
        sys.executable, "-m", "pip", "install", "-q", "--no-deps", "-t", target, str(example)
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return target


def test_its_own_tests_pass(example: Path, site: str):
    """What a plugin author runs passes against the installed package, with plain pytest."""
    shutil.rmtree(example / "src")
    done = run(sys.executable, "-m", "pytest", "-q", str(example), PYTHONPATH=site)
    assert done.returncode == 0, done.stdout + done.stderr
    assert " passed" in done.stdout.splitlines()[-1]


def test_discovery_finds_it(site: str):
    """Discovery loads the plugin by its entry point, and both codes have their tools."""
    done = run(sys.executable, "-c", DISCOVER, PYTHONPATH=site)
    assert done.returncode == 0, done.stderr
    names, tools = json.loads(done.stdout.splitlines()[-1])
    assert "hello" in names
    assert tools == {
        "Hello": ["hello_greet", "hello_word_count"],
        "Hello notes": ["hello_save_note", "hello_list_notes"],
    }
