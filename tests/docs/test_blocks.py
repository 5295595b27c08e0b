"""Code in the documentation: it runs as it stands."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.docs.pages import Block, blocks, name_of, pages
from tests.support.environments import make_environment

NOT_RUN: dict[str, int] = {"docs/how-to/use-from-langchain.md": 2}
"""How many Python blocks of a page are marked `<!-- not run: reason -->`."""

RUNNER = """
import ast, asyncio, inspect, json, sys
page, *parts = json.load(sys.stdin)
names = {"__name__": "__main__"}
with asyncio.Runner() as runner:
    for line, text in parts:
        code = compile("\\n" * (line - 1) + text, page, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        result = eval(code, names)
        if inspect.iscoroutine(result):
            runner.run(result)
"""
SHELLS = {"bash", "console", "sh"}
LONGEST = 280
"""Seconds that a page may take: a tutorial starts the program a dozen times."""


def python_blocks(page: Path) -> list[Block]:
    return [block for block in blocks(page) if block.language == "python"]


def shell_blocks(page: Path) -> list[Block]:
    return [block for block in blocks(page) if block.language in SHELLS and block.mark == "run"]


def commands(block: Block) -> str:
    """A script of the block; of a console block, the lines that a person types."""
    if block.language != "console":
        return block.text
    lines = [line for line in block.text.splitlines() if line.startswith(("$ ", "> "))]
    return "\n".join(line[2:] for line in lines)


def run(command: list[str], place: Path, text: str) -> subprocess.CompletedProcess[str]:
    """Run in a fresh folder, with the data directory of a fresh installation."""
    bin_dir = Path(command[0]).parent
    return subprocess.run(
        command,
        cwd=place,
        input=text,
        env={
            **os.environ,
            "PATH": f"{bin_dir}{os.pathsep}{os.environ['PATH']}",
            "TOOLCRIB_DATA_DIR": str(place / "data"),
        },
        capture_output=True,
        text=True,
        check=False,
        timeout=LONGEST,
    )


@pytest.fixture
def shell(tmp_path: Path) -> str:
    """A shell of a virtual environment: what pip installs there, nobody else sees."""
    bin_dir = make_environment(tmp_path / "venv").parent
    for name, line in {"pip": "python -m pip", "shell": "bash"}.items():
        script = bin_dir / name
        script.write_text(f'#!/bin/sh\nexec {line} "$@"\n')
        script.chmod(0o755)
    return str(bin_dir / "shell")


@pytest.mark.parametrize("page", [one for one in pages() if python_blocks(one)], ids=name_of)
def test_python_runs(page: Path, tmp_path: Path):
    """The Python blocks of a page run one after the other in one process; `await` is allowed."""
    parts = [(one.line, one.text) for one in python_blocks(page) if one.mark != "not run"]
    done = run([sys.executable, "-c", RUNNER], tmp_path, json.dumps([name_of(page), *parts]))
    assert done.returncode == 0, done.stderr


@pytest.mark.timeout(LONGEST + 20)
@pytest.mark.parametrize("page", [one for one in pages() if shell_blocks(one)], ids=name_of)
def test_commands_run(page: Path, shell: str, tmp_path: Path):
    """Shell blocks marked `<!-- run -->` run one after the other and end well."""
    script = "\n".join(["set -euo pipefail", *(commands(one) for one in shell_blocks(page))])
    done = run([shell, "-s"], tmp_path, script)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("page", pages(), ids=name_of)
def test_data_can_be_read(page: Path):
    """JSON and TOML blocks are whole documents."""
    readers = {"json": json.loads, "toml": tomllib.loads}
    for block in blocks(page):
        if block.language in readers:
            assert readers[block.language](block.text) is not None


def test_what_is_not_run_says_why():
    """Blocks that are left out give a reason, and their number is known here."""
    left_out = {
        name_of(page): [block for block in python_blocks(page) if block.mark == "not run"]
        for page in pages()
    }
    assert {name: len(found) for name, found in left_out.items() if found} == NOT_RUN
    assert [block for found in left_out.values() for block in found if not block.reason] == []


def test_blocks_are_read(tmp_path: Path):
    """Languages, marks, indented blocks and console prompts are understood."""
    page = tmp_path / "page.md"
    page.write_text(
        "<!-- not run: needs a key -->\n\n```python\nx = 1\n```\n"
        "- item\n\n  <!-- run -->\n  ```console\n  $ true\n  done\n  ```\n"
    )
    first, second = blocks(page)
    assert (first.language, first.text, first.line) == ("python", "x = 1", 4)
    assert (first.mark, first.reason) == ("not run", "needs a key")
    assert (second.mark, second.text, commands(second)) == ("run", "$ true\ndone", "true")


def test_a_failing_block_names_its_line(tmp_path: Path):
    """An error in a block points at the line of the page."""
    done = run([sys.executable, "-c", RUNNER], tmp_path, json.dumps(["page.md", [7, "1 / 0"]]))
    assert done.returncode == 1
    assert 'File "page.md", line 7' in done.stderr
