"""The import contracts: each one catches what it is there for."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TOP = Path(__file__).parents[2]
VIOLATIONS = [
    ("Imports point up the story", "kit/tool.py", "import toolcrib.sources.native.kit"),
    ("Imports point up the story", "surfaces/langchain/tools.py", "import toolcrib.compat.kortix"),
    ("LangChain stays where", "kit/schema.py", "from langchain_core.tools import tool"),
    ("Imports point up the story", "tools/spec.py", "import toolcrib.catalog.capabilities"),
    ("Imports point up the story", "settings.py", "import toolcrib.errors"),
    ("Imports point up the story", "newcomer.py", "import os"),
    ("Stages are plain Python", "grants/agents.py", "import fastapi"),
    ("SQL and Redis stay in storage", "documents/folder.py", "import redis.asyncio"),
    ("LangChain stays where", "invocation/journal.py", "from langchain_core.tools import tool"),
    ("Web frameworks stay", "coordination/signals.py", "from starlette.requests import Request"),
    ("HTTP leaves through net", "agents/chats.py", "import httpx"),
    ("MCP is spoken where", "catalog/packages.py", "import mcp"),
    ("Settings are read where", "secrets/sealing.py", "import toolcrib.settings"),
]


def lint(src: Path) -> subprocess.CompletedProcess[str]:
    """Run the contracts of this repository over another copy of its source."""
    command = "import sys; from importlinter.cli import lint_imports_command as run; run()"
    return subprocess.run(
        [sys.executable, "-c", command, str(TOP / "pyproject.toml"), "--no-cache", "--no-logo"],
        cwd=src,
        env={**os.environ, "PYTHONPATH": str(src), "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def src(tmp_path: Path) -> Path:
    """A copy of the source that a test may spoil."""
    return shutil.copytree(
        TOP / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__")
    )


@pytest.mark.parametrize(("contract", "module", "statement"), VIOLATIONS)
def test_violation_is_caught(src: Path, contract: str, module: str, statement: str):
    """One forbidden import breaks the contract that forbids it."""
    with (src / "toolcrib" / module).open("a") as file:
        file.write(f"\n{statement}\n")
    done = lint(src)
    broken = [line for line in done.stdout.splitlines() if " BROKEN" in line]
    assert done.returncode == 1, done.stdout + done.stderr
    assert any(line.startswith(contract) for line in broken), done.stdout


def test_source_keeps_the_contracts(src: Path):
    """The source as it is breaks none."""
    done = lint(src)
    assert done.returncode == 0, done.stdout + done.stderr
