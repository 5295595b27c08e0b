"""This module finds the example plugin and installs it as a real distribution, with pip."""

from __future__ import annotations

import asyncio
import importlib
import importlib.metadata
import importlib.util
import shutil
import sys
from pathlib import Path

import toolcrib
from toolcrib.errors import SetupError

DISTRIBUTION = "toolcrib-hello"


def installed() -> str | None:
    """The version that this Python would import, None when there is none."""
    importlib.invalidate_caches()
    try:
        return importlib.metadata.version(DISTRIBUTION)
    except importlib.metadata.PackageNotFoundError:
        return None


async def install() -> None:
    """Install the example into this Python. Raises SetupError with what the installer said."""
    command = [*_installer(), str(_source())]
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    printed, _ = await process.communicate()
    if process.returncode:
        lines = printed.decode(errors="replace").strip().splitlines()[-12:]
        raise SetupError(
            f"{' '.join(command)} failed:\n  " + "\n  ".join(lines),
            hint="Mend that, or run the command yourself, then run the demo again.",
        )


def _source() -> Path:
    """In an installed Toolcrib beside its modules, in a checkout beside `src`."""
    package = Path(toolcrib.__file__).parent
    for place in (package, package.parents[1]):
        folder = place / "examples" / DISTRIBUTION
        if (folder / "pyproject.toml").is_file():
            return folder
    raise SetupError(
        f"The example plugin {DISTRIBUTION!r} was not shipped with this Toolcrib.",
        hint="Install Toolcrib from its wheel, or run the demo in a checkout of its source.",
    )


def _installer() -> list[str]:
    """pip, or uv where the environment was made without pip."""
    if importlib.util.find_spec("pip") is not None:
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input"]
        return [*pip, "install", "--quiet"]
    if uv := shutil.which("uv"):
        return [uv, "pip", "install", "--quiet", "--python", sys.executable]
    raise SetupError(
        f"{sys.executable} has no pip to install the example plugin with.",
        hint=f"Run {sys.executable} -m ensurepip, then run the demo again.",
    )
