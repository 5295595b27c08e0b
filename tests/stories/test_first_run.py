"""The first run: serve, a token, the demo against the running server, and the demo once more."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from tests.support.environments import Program, make_environment, make_program
from tests.support.serving import Serving, serving, until


@pytest.fixture
def fresh(tmp_path: Path) -> Program:
    """A program as just installed: its own environment, an empty home, no plugins."""
    return make_program(tmp_path, python=make_environment(tmp_path / "env"))


def ask(server: Serving, place: str, token: str) -> httpx.Response:
    headers = {"Authorization": f"Bearer {token}"}
    return httpx.get(f"{server.url}{place}", headers=headers, trust_env=False)


@pytest.mark.timeout(300)
def test_first_run(fresh: Program):
    """A person starts the server, tries the API with the printed token, plays the demo beside it,
    repeats its curl line, and plays the demo again."""
    with serving(fresh) as server:
        assert ask(server, "/api/v1/users", server.token).status_code == 200
        assert ask(server, "/api/v1/users", "wrong").status_code == 401

        first = fresh.run("demo", "--json")
        assert first.returncode == 0, first.stderr
        facts = json.loads(first.stdout)
        assert (facts["plugin"]["made"], facts["agent"]["made"]) == (True, True)
        assert [tool["name"] for tool in facts["tools"]] == ["hello_greet", "hello_word_count"]
        assert facts["skipped"][0]["ref"] == "native:hello_poems"
        assert (facts["explanation"]["visible"], facts["call"]["success"]) == (False, True)
        assert facts["call"]["text"].startswith("Bonjour, Grace!")
        assert facts["calls"][0]["call_id"] == facts["call"]["call_id"]

        assert (facts["server"], facts["server_has_tool"]) == (server.url, True)
        said = subprocess.run(
            shlex.split(facts["curl"]), capture_output=True, text=True, check=True
        )
        answer = json.loads(said.stdout)
        assert (answer["success"], answer["text"]) == (True, facts["call"]["text"])

        again = fresh.run("demo")
        assert again.returncode == 0, again.stderr
        assert again.stdout.count("there already: ") == 5
        assert "made: " not in again.stdout
        # The demo is another process: the server learns of the revocation within a second or so.
        until(lambda: ask(server, "/api/v1/me", facts["token"]).status_code == 401)

        agents = ask(server, "/api/v1/agents", server.token).json()["items"]
        assert [agent["name"] for agent in agents] == ["Demo clerk"]
        assert server.stop() == 0


@pytest.mark.timeout(300)
def test_demo_alone(fresh: Program):
    """Without a server the demo does the same, and says how to start one."""
    done = fresh.run("demo")
    assert done.returncode == 0, done.stderr
    assert "No server runs" in done.stdout
    assert "Bonjour, Grace!" in done.stdout
    doctor = fresh.run("doctor", "--json")
    checks = {item["check"]: item["status"] for item in json.loads(doctor.stdout)["items"]}
    assert (doctor.returncode, checks["plugins"], checks["database"]) == (0, "ok", "ok")


@pytest.mark.timeout(300)
def test_demo_of_the_wheel(tmp_path: Path):
    """The built wheel brings what the demo needs: it works where there is no checkout."""
    top = Path(__file__).parents[2]
    pip = [sys.executable, "-m", "pip", "--quiet"]
    subprocess.run([*pip, "wheel", "--no-deps", "-w", tmp_path, top], check=True)
    (wheel,) = tmp_path.glob("toolcrib-*.whl")
    site = tmp_path / "site"
    subprocess.run([*pip, "install", "--no-deps", "--target", site, wheel], check=True)
    python = make_environment(tmp_path / "env")
    program = make_program(tmp_path, python=python, PYTHONPATH=str(site))
    done = program.run("demo", "--json")
    assert done.returncode == 0, done.stderr
    facts = json.loads(done.stdout)
    assert (facts["plugin"]["made"], facts["call"]["success"]) == (True, True)
