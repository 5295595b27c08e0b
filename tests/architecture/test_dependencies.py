"""The dependencies: what the source imports is declared, and what is declared is imported."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

TOP = Path(__file__).parents[2]
PROJECT = tomllib.loads((TOP / "pyproject.toml").read_text())["project"]
NOT_IMPORTED = {
    "aiosqlite": "sqlalchemy's driver for SQLite",
    "httptools": "uvicorn picks it up",
    "uvloop": "uvicorn picks it up",
}
"""Base dependencies that no module imports, and who uses them."""
BROUGHT_ALONG = {"pytest"}
"""Imported only by the plugin that pytest itself loads."""


def names(requirements: list[str]) -> set[str]:
    """Distribution names, in one spelling."""
    found = (re.match(r"[\w.-]+", one) for one in requirements)
    return {spelled(match[0]) for match in found if match}


def spelled(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def imported() -> dict[str, str]:
    """Top-level third-party module → one file that imports it."""
    found: dict[str, str] = {}
    for path in sorted((TOP / "src").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            match node:
                case ast.Import(names=aliases):
                    modules = [alias.name for alias in aliases]
                case ast.ImportFrom(module=str() as module, level=0):
                    modules = [module]
                case _:
                    continue
            for module in modules:
                found.setdefault(module.partition(".")[0], str(path.relative_to(TOP)))
    return {
        name: path
        for name, path in found.items()
        if name not in sys.stdlib_module_names and name != "toolcrib"
    }


def test_imports_are_declared():
    """Every third-party import belongs to a base dependency or an extra that users install."""
    extras = PROJECT["optional-dependencies"]
    users = [one for name, extra in extras.items() if name != "dev" for one in extra]
    declared = names([*PROJECT["dependencies"], *users])
    homes = packages_distributions()
    strangers = {
        name: path
        for name, path in imported().items()
        if not {spelled(home) for home in homes.get(name, [])} & (declared | BROUGHT_ALONG)
    }
    assert strangers == {}


def test_base_dependencies_are_used():
    """Nothing is installed for everybody that nobody imports."""
    homes = packages_distributions()
    used = {spelled(home) for name in imported() for home in homes.get(name, [])}
    unused = names(PROJECT["dependencies"]) - used
    assert unused == set(NOT_IMPORTED)
