"""Manners: usage errors, readers that go away, Ctrl-C, foreign text, values that stay secret."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.environments import Program
from toolcrib.cli.answers import as_text
from toolcrib.cli.options import json_object
from toolcrib.cli.words import cell, printable
from toolcrib.errors import InvalidRequest


@pytest.mark.parametrize(
    ("arguments", "culprit"),
    [
        (["groups", "lst"], "'list'"),
        (["groups", "show", "one"], "'GROUP'"),
        (["tools", "list"], "--agent"),
        (["tools", "call", "--agent", "1", "x", "[1]"], "not a JSON object"),
        (["tools", "call", "--agent", "1", "x", "{"], "not JSON"),
        (["tools", "call", "--agent", "1", "x", "@missing.json"], "'missing.json'"),
    ],
)
def test_usage(program: Program, arguments: Sequence[str], culprit: str):
    """A command that cannot be used ends with 2, names the culprit, and prints nothing else."""
    done = program.run(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert culprit in done.stderr


def test_reader_that_goes_away(demo: Program):
    """`toolcrib … | head -1` is quiet."""
    line = f"{demo.python.parent}/toolcrib calls list --json | head -c 1"
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", line],
        capture_output=True,
        text=True,
        env=demo.environment,
        check=False,
    )
    assert (done.stdout, done.stderr) == ("{", "")


HEARING = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execvp(sys.argv[1], sys.argv[1:])
"""
"""Runs a program that hears Ctrl-C: what a shell starts in the background is deaf to it."""


def test_ctrl_c(program: Program):
    """Ctrl-C ends a command with 130 and not a word."""
    process = subprocess.Popen(
        [sys.executable, "-c", HEARING, *program.command("settings", "set", "NAME")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=program.environment,
        cwd=program.home,
    )
    # It has read its settings, made the installation, and waits for the value.
    assert process.stderr is not None
    made = process.stderr.readline()
    assert "tcrib_" in made
    process.send_signal(signal.SIGINT)
    printed, told = process.communicate(timeout=60)
    assert (process.returncode, printed, told) == (130, "", "")


def test_secrets_are_not_echoed(demo: Program):
    """A value goes in through stdin and comes out nowhere."""
    value = "very-hidden-value"
    put = demo.run("settings", "set", "HELLO_SIGNATURE", "--user", "2", stdin=value + "\n")
    listed = demo.run("settings", "list", "--user", "2", "--json")
    called = demo.run(
        *("tools", "call", "--agent", "1", "--user", "2", "hello_greet", '{"name": "Ada"}')
    )
    assert (put.returncode, called.returncode) == (0, 0)
    assert json.loads(listed.stdout)["items"][0]["name"] == "HELLO_SIGNATURE"
    everything = put.stdout + put.stderr + listed.stdout + called.stdout + called.stderr
    assert value not in everything
    assert "***" in called.stdout


def test_failed_call_ends_with_its_kind(demo: Program):
    """The result is JSON all the same, and the code says what went wrong."""
    done = demo.run("tools", "call", "--agent", "1", "hello_greet", "{}", "--json")
    result = json.loads(done.stdout)
    assert (done.returncode, result["success"]) == (2, False)
    assert result["error"]["code"] == "invalid_arguments"


def test_plugins_are_not_loaded_for_nothing(demo: Program):
    """A list of groups runs no plugin's code; a list of tools does."""
    trap = demo.home / "trap"
    trap.mkdir()
    (trap / "toolcrib_hello.py").write_text("raise SystemExit('loaded')")
    program = replace(demo, extra={"PYTHONPATH": str(trap)})
    assert "loaded" not in program.run("groups", "list").stderr
    assert "loaded" in program.run("plugins", "list").stdout


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("red \x1b[31m", "red �[31m"),
        ("a\x9bb", "a�b"),
        ("two\nlines", "two\nlines"),
        (None, "-"),
        ([], "-"),
        (True, "yes"),
        ([1, "b"], "1, b"),
        (1.50, "1.5"),
        ({"a": "ü"}, '{"a": "ü"}'),
        ({"code": "unreachable", "message": "Nobody is there."}, "Nobody is there."),
    ],
)
def test_cells(value: object, shown: str):
    """Values in a table are short, and cannot steer the terminal."""
    assert cell(value) == shown


def test_printable_keeps_words():
    """Only control characters are taken out."""
    assert printable("Dzień dobry ✓") == "Dzień dobry ✓"


def test_half_characters_can_be_written():
    """A tool may answer with half of a surrogate pair; a terminal or file takes none."""
    assert printable("a\ud800b") == "a\N{REPLACEMENT CHARACTER}b"
    text = as_text({"text": "ż\ud800"})
    assert text.encode()
    assert json.loads(text) == {"text": "ż\ud800"}


@pytest.mark.parametrize(
    ("streams", "code", "words"),
    [
        ("<&-", 2, "Add --yes"),
        (">&-", 2, "Add --yes"),
        ("2>&-", 2, ""),
        ("<&- >&- 2>&-", 2, ""),
    ],
)
def test_closed_streams(program: Program, streams: str, code: int, words: str):
    """Cron and the like start programs without some: there is nobody to ask, and nothing breaks."""
    line = f'exec "$0" "$@" {streams}'
    done = subprocess.run(
        ["sh", "-c", line, *program.command("agents", "delete", "1")],
        capture_output=True,
        text=True,
        env=program.environment,
        check=False,
    )
    assert (done.returncode, words in done.stderr, "Error" in done.stderr) == (code, True, False)


@pytest.mark.parametrize("arguments", [["groups", "list"], ["groups", "list", "--json"]])
def test_output_without_room(program: Program, arguments: list[str]):
    """What cannot be written is said, and is no mistake of the program."""
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            program.command(*arguments),
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            env=program.environment,
            check=False,
        )
    assert done.returncode == 7
    assert "What is to be written cannot be: No space left on device." in done.stderr


@pytest.mark.parametrize("arguments", [["--help"], ["tools", "--help"], ["groups", "list"]])
def test_a_reader_who_has_seen_enough(program: Program, arguments: list[str]):
    """Tables and help too end quietly, with the number of a closed pipe."""
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(
            program.command(*arguments),
            stdout=writing,
            stderr=subprocess.PIPE,
            text=True,
            env=program.environment,
            check=False,
        )
    finally:
        os.close(writing)
    assert (done.returncode, "Traceback" in done.stderr, "mistake" in done.stderr) == (
        141,
        False,
        False,
    )


@pytest.mark.parametrize("url", ["example.com", "ftp://example.com", "127.0.0.1:8420"])
def test_an_address_without_http(program: Program, url: str):
    """The form is shown."""
    done = program.run("groups", "list", "--url", url, "--token", "x")
    assert (done.returncode, "--url http://127.0.0.1:8420" in done.stderr) == (2, True)
    assert repr(url) in done.stderr


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{bad", "is not JSON: expecting property name enclosed in double quotes (line 1, c"),
        ('{"a": 1, "a": 2}', "the key 'a' appears twice in one object (line 1, column 10)."),
        ('{"a": NaN}', "NaN is not a JSON number (line 1, column 7)."),
        ("[1]", "is not a JSON object."),
    ],
)
def test_what_is_no_json_object(text: str, words: str):
    """What a person wrote is read strictly, and the place of a fault is said."""
    with pytest.raises(InvalidRequest) as caught:
        json_object(text, where="options")
    assert words in caught.value.message
    assert caught.value.where == "options"
