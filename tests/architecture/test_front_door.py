"""The front door: its names, and that opening it costs next to nothing."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import toolcrib

NAMES = [
    "PLACEHOLDER_RE",
    "Settings",
    "UnresolvedPlaceholderError",
    "__version__",
    "annotations",
    "capability",
    "condition",
    "discover_plugins",
    "get_capability_meta",
    "open_platform",
    "register_tools",
    "resolve_tools",
]
HEAVY = (
    "aiohttp",
    "alembic",
    "fastapi",
    "httpx",
    "langchain",
    "langchain_core",
    "langgraph",
    "pydantic",
    "sqlalchemy",
    "starlette",
    "typer",
)


def modules_loaded_by(statement: str) -> set[str]:
    """Names of the modules that a fresh interpreter has after the statement and not before."""
    program = (
        "import sys, json; before = set(sys.modules)\n"
        f"{statement}\n"
        "print(json.dumps(sorted(set(sys.modules) - before)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    return set(json.loads(done.stdout))


def test_names_of_the_front_door():
    """The public names are these, sorted; adding one is a decision."""
    assert toolcrib.__all__ == NAMES
    assert toolcrib.__all__ == sorted(toolcrib.__all__)


@pytest.mark.parametrize("name", NAMES)
def test_name_loads(name: str):
    """Every public name can be had, and is listed by dir()."""
    assert getattr(toolcrib, name) is not None
    assert name in dir(toolcrib)


def test_unknown_name():
    """A name that is not there is an AttributeError that says which one."""
    with pytest.raises(AttributeError, match="'no_such_name'"):
        _ = toolcrib.no_such_name  # pyright: ignore[reportAttributeAccessIssue]


def test_import_loads_itself_alone():
    """`import toolcrib` loads one module: its own."""
    assert modules_loaded_by("import toolcrib") == {"toolcrib"}


def test_registering_stays_light():
    """A plugin that registers tools pulls in no framework."""
    loaded = modules_loaded_by("from toolcrib import register_tools, capability")
    assert sorted(loaded & set(HEAVY)) == []


def test_settings_need_no_framework():
    """Reading settings loads pydantic and none of the rest."""
    loaded = modules_loaded_by("from toolcrib import Settings")
    assert sorted(loaded & set(HEAVY)) == ["pydantic"]
