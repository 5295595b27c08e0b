"""This module installs real MCP servers once and says how to start them.

They come from npm and PyPI into a cache that outlives the test run (`TEST_MCP_CACHE`, else a folder
of the temporary directory). Where a registry cannot be had, tests are skipped with the reason; with
`CI` set they fail.
"""

from __future__ import annotations

import fcntl
import os
import pwd
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.support.services import missing

_CACHE = Path(
    os.environ.get("TEST_MCP_CACHE", str(Path(tempfile.gettempdir()) / "toolcrib-test-mcp"))
)


NODE_22 = "node@22"
"""The package that brings Node 22 along, for programs that the system's Node is too old for."""
CLIENTS = ("@modelcontextprotocol/inspector@2", "@modelcontextprotocol/sdk@1", NODE_22)
"""The Inspector with its CLI, which brings the TypeScript SDK of both eras along, the SDK of the
older era, and what runs them."""


def npm_server(package: str) -> list[str]:
    """The command of an npm package's server: `node`, and its script."""
    node = shutil.which("node")
    script = npm_folder(package) / package / "dist" / "index.js"
    if node is None or not script.is_file():
        missing(f"{package} has no {script.name} where it was expected")
    return [node, str(script)]


def npm_folder(*packages: str) -> Path:
    """The `node_modules` of a folder that has these packages."""
    npm = shutil.which("npm")
    if npm is None:
        missing("Node and npm are not installed, and a real server needs them")
    folder = _CACHE / "npm" / "+".join(packages).replace("/", "+")
    with _once(folder) as done:
        if not done:
            _run([npm, "install", "--no-audit", "--no-fund", "--prefix", str(folder), *packages])
    return folder / "node_modules"


def npm_file(package: str, file: str) -> Path:
    """A file of an npm package, installed once."""
    npm = shutil.which("npm")
    if shutil.which("node") is None or npm is None:
        missing("Node and npm are not installed, and a real server needs them")
    name = package.rpartition("@")[0] or package
    folder = _CACHE / "npm" / package.replace("/", "+")
    with _once(folder) as done:
        if not done:
            _run([npm, "install", "--no-audit", "--no-fund", "--prefix", str(folder), package])
    found = folder / "node_modules" / name / file
    if not found.is_file():
        missing(f"{package} has no {file} where it was expected")
    return found


def python_of(*packages: str) -> str:
    """The Python of an environment that has these packages."""
    folder = _CACHE / "python" / "+".join(packages).replace(">", "-").replace("=", "")
    python = folder / "bin" / "python"
    with _once(folder) as done:
        if not done:
            _run([sys.executable, "-m", "venv", str(folder)])
            _run([str(python), "-m", "pip", "install", "-q", *packages])
    return str(python)


def _run(command: Sequence[str]) -> None:
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=110,
            check=False,
            env={**os.environ, "HOME": pwd.getpwuid(os.getuid()).pw_dir},
        )
    except subprocess.TimeoutExpired:
        missing(f"{command[-1]} could not be installed within 110 s")
    if done.returncode != 0:
        last = (done.stderr or done.stdout).strip().splitlines()[-1:]
        missing(f"{command[-1]} could not be installed: {' '.join(last)}")


@contextmanager
def _once(folder: Path) -> Iterator[bool]:
    """Whether it is installed already; of several processes one installs, the others wait."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    # Not `with_suffix`: the last number of a version is no suffix.
    mark = folder.with_name(f"{folder.name}.done")
    with folder.with_name(f"{folder.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = mark.is_file()
        if not done and folder.exists():
            shutil.rmtree(folder)
        folder.mkdir(exist_ok=True)
        yield done
        mark.touch()
