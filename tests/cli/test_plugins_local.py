"""`plugins check` and `plugins new`: bad plugins are named, a new one's own tests pass."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.environments import Program, make_program
from tests.support.packages import lay_out

GOOD = """
def greet(name: str) -> str:
    "Greet somebody."
    return f"Hello, {name}"

def register(registry_fn):
    registry_fn("greetings", [greet], name="Greetings")
"""
BAD = {
    "raises": ("raise RuntimeError('no luck')", "no luck"),
    "leaves": ("import sys; sys.exit(3)", "SystemExit"),
    "vanishes": ("import os; os._exit(9)", "code 9"),
    "crashes": ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", "SIGSEGV"),
    "hangs": ("import threading; threading.Event().wait()", "still loading"),
    "odd": ("def register(fn): fn('odd', [object()])", "cannot be used"),
}


@pytest.fixture
def site(tmp_path: Path) -> Path:
    folder = tmp_path / "site"
    folder.mkdir()
    return folder


@pytest.fixture
def program(tmp_path: Path, site: Path) -> Program:
    """The program with a folder of packages."""
    return make_program(tmp_path, PYTHONPATH=str(site))


def put(site: Path, name: str, text: str) -> None:
    lay_out(
        site,
        f"plugin-{name}",
        files={f"plugin_{name}.py": text},
        entry_points={"toolcrib.tools": {name: f"plugin_{name}:register"}},
    )


def test_good_plugin(program: Program, site: Path):
    """A plugin that works is shown with its codes and tools, and needs no database."""
    put(site, "good", GOOD)
    done = program.run("plugins", "check", "--json")
    result = json.loads(done.stdout)
    assert (done.returncode, result["failed"]) == (0, [])
    assert [one["tools"] for one in result["items"]] == [{"greetings": ["greet"]}]
    assert not program.data_dir.exists()


def test_every_bad_plugin_is_named(program: Program, site: Path):
    """Whatever a plugin does to its process, it is named with the cause; the good one passes."""
    put(site, "good", GOOD)
    for name, (text, _) in BAD.items():
        put(site, name, text)
    patience = {"TOOLCRIB_PLUGIN_TIMEOUT": "15"}
    done = program.run("plugins", "check", "--json", extra=patience)
    result = json.loads(done.stdout)
    assert (done.returncode, result["failed"]) == (7, sorted(BAD))
    causes = {one["name"]: f"{one['error']} {one['skipped']}" for one in result["items"]}
    shown = program.run("plugins", "check", "odd")
    assert "cannot be used" in shown.stdout
    for name, (_, cause) in BAD.items():
        if name != "odd":
            assert cause in causes[name], name


def test_chosen_plugins_only(program: Program, site: Path):
    """Names limit the check; one that nothing announces is an error that lists what there is."""
    put(site, "good", GOOD)
    put(site, "raises", BAD["raises"][0])
    assert program.run("plugins", "check", "good").returncode == 0
    missing = program.run("plugins", "check", "nobody")
    assert (missing.returncode, "good, raises" in missing.stderr) == (3, True)


def test_printing_plugin_does_not_spoil_the_json(program: Program, site: Path):
    """What a plugin prints is shown when it fails, and never mixes with the answer."""
    put(site, "loud", "import sys\nprint('LOUD')\nraise RuntimeError('no luck')")
    done = program.run("plugins", "check", "--json")
    assert "LOUD" in json.loads(done.stdout)["items"][0]["output"]
    assert "LOUD" in program.run("plugins", "check").stdout


@pytest.fixture
def scaffolded(program: Program, tmp_path: Path) -> Path:
    done = program.run("plugins", "new", "weather_map", "--into", str(tmp_path), "--json")
    assert done.returncode == 0, done.stderr
    return Path(json.loads(done.stdout)["folder"])


def test_new_plugin_passes_its_own_tests(scaffolded: Path):
    """What an author gets works before the first change."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(scaffolded)],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": ""},
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "3 passed" in done.stdout


def test_new_plugin_can_be_installed_and_checked(scaffolded: Path, site: Path, program: Program):
    """As a real distribution it is found, and its tool can be used."""
    installed = subprocess.run(
        [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "-t", site, scaffolded],
        capture_output=True,
        text=True,
        check=False,
    )
    assert installed.returncode == 0, installed.stderr
    result = json.loads(program.run("plugins", "check", "--json").stdout)
    assert (result["failed"], result["items"][0]["tools"]) == (
        [],
        {"weather_map": ["weather_map_echo"]},
    )


def test_new_plugin_overwrites_nothing(scaffolded: Path, program: Program, tmp_path: Path):
    """A folder that is there stays as it is."""
    done = program.run("plugins", "new", "weather_map", "--into", str(tmp_path))
    assert (done.returncode, str(scaffolded) in done.stderr) == (5, True)


@pytest.mark.parametrize("name", ["Weather", "1st", "a-b", "", "x" * 60])
def test_names_that_cannot_be(program: Program, tmp_path: Path, name: str):
    """The name becomes a code and a module, so it must fit both."""
    done = program.run("plugins", "new", name, "--into", str(tmp_path))
    assert done.returncode == 2
    assert [one.name for one in tmp_path.iterdir() if "toolcrib" in one.name] == []
