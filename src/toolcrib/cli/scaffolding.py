"""This module writes a new plugin package from the files in `scaffold/`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from string import Template

from toolcrib.errors import Conflict, InvalidRequest, InvalidSettings

_TEMPLATES = Path(__file__).parent / "scaffold"
_FILES = {
    "pyproject.toml": "pyproject.toml.txt",
    "README.md": "README.md.txt",
    "src/$package/__init__.py": "init.py.txt",
    "src/$package/tools.py": "tools.py.txt",
    "tests/test_plugin.py": "test_plugin.py.txt",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Made:
    """The new folder, the code of its tools, and its files relative to it."""

    folder: Path
    code: str
    files: list[str]


def scaffold(name: str, into: Path) -> Made:
    """Write the package `toolcrib-NAME` below `into`. Raises InvalidRequest, Conflict."""
    if not re.fullmatch(r"[a-z][a-z0-9_]{0,39}", name):
        raise InvalidRequest(
            f"{name!r} cannot be the name of a plugin.",
            where="name",
            hint="Use lowercase letters, digits and underscores, a letter first.",
        )
    folder = into / f"toolcrib-{name.replace('_', '-')}"
    if folder.exists():
        raise Conflict(f"{str(folder)!r} is there already.", hint="Take another name or folder.")
    words = {
        "name": name,
        "title": name.replace("_", " ").capitalize(),
        "package": f"toolcrib_{name}",
        "distribution": folder.name,
    }
    files = {Template(to).substitute(words): _filled(what, words) for to, what in _FILES.items()}
    _write(folder, files)
    return Made(folder=folder, code=name, files=list(files))


def _filled(template: str, words: dict[str, str]) -> str:
    return Template((_TEMPLATES / template).read_text(encoding="utf-8")).substitute(words)


def _write(folder: Path, files: dict[str, str]) -> None:
    try:
        for relative, text in files.items():
            file = folder / relative
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InvalidSettings(
            f"{str(folder)!r} cannot be written: {error.strerror}.",
            hint="Choose another place with --into.",
        ) from None
