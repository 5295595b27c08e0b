"""The help: every command explains itself, and every example that it shows works."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.cli.tree import commands, examples
from tests.support.environments import Program

LEAVES = dict(commands())
RUNS_ON = {"serve"}
"""Commands that do not end by themselves; the story of the first run starts them."""
FILES = {
    "token.txt": "a-token-of-the-crm",
    "password.txt": "correct horse battery",
    "notes.txt": "Sharpen the chisels",
    "arguments.json": '{"name": "Grace"}',
}


@pytest.mark.parametrize("name", LEAVES)
def test_command_explains_itself(name: str):
    """Each has a sentence, an example that begins with its own name, and --json and --debug."""
    command = LEAVES[name]
    options = {word for one in command.params for word in one.opts}
    assert command.help
    assert options >= {"--json", "--debug"}
    assert examples(command)
    assert [one for one in examples(command) if not one.startswith(f"toolcrib {name}")] == []


@pytest.mark.parametrize("name", LEAVES)
def test_parameters_explain_themselves(name: str):
    """Each argument and option says what it is."""
    assert [one.name for one in LEAVES[name].params if not getattr(one, "help", "help")] == []


def prepared(demo: Program) -> dict[str, str]:
    """Put in place what examples speak of; returns the words that stand for ids."""
    for arguments, stdin in (
        (("chats", "create", "--agent", "1"), ""),
        (("settings", "set", "CRM_TOKEN", "--group", "1"), "a-token-of-the-crm"),
    ):
        assert demo.run(*arguments, stdin=stdin).returncode == 0
    made = json.loads(demo.run("tokens", "create", "2", "--name", "old", "--json").stdout)
    calls = json.loads(demo.run("calls", "list", "--json").stdout)
    return {"TOKEN_ID": made["id"], "CALL_ID": calls["items"][0]["call_id"]}


def job(line: str, words: dict[str, str], data: Path, place: Path) -> dict[str, Any]:
    """The work of one example, in a folder and on data of its own."""
    for word, meant in words.items():
        line = line.replace(word, meant)
    _, *arguments = shlex.split(line)
    stdin = ""
    if "<" in arguments:
        at = arguments.index("<")
        stdin = FILES[arguments[at + 1]]
        arguments = arguments[:at] + arguments[at + 2 :]
    place.mkdir()
    for name, text in FILES.items():
        (place / name).write_text(text)
    copy = shutil.copytree(data, place / "data")
    return {"arguments": arguments, "stdin": stdin, "cwd": str(place), "data_dir": str(copy)}


def test_examples_work(demo: Program, tmp_path: Path):
    """Every example ends well after the demo, and with --json prints JSON and nothing else."""
    words = prepared(demo)
    lines = [
        line + end
        for name, command in LEAVES.items()
        if name not in RUNS_ON
        for line in examples(command)
        for end in ("", " --json")
    ]
    jobs = [job(line, words, demo.data_dir, tmp_path / str(n)) for n, line in enumerate(lines)]
    done = subprocess.run(
        [demo.python, Path(__file__).with_name("warm.py")],
        input=json.dumps(jobs),
        capture_output=True,
        text=True,
        env=demo.environment,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    results = dict(zip(lines, json.loads(done.stdout), strict=True))
    assert {line: r for line, r in results.items() if r["code"] or not r["stdout"]} == {}
    as_json = {line: r["stdout"] for line, r in results.items() if line.endswith(" --json")}
    assert len(as_json) == len(lines) // 2
    assert [line for line, printed in as_json.items() if json.loads(printed) is None] == []
