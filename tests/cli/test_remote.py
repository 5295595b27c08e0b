"""`--url` and `--token`: a remote server answers a command as the installation itself does."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from tests.support.environments import Job, Program, run_many
from tests.support.serving import Serving, serving

SAME = (
    "groups list",
    "groups show 1",
    "users list",
    "users show 2",
    "tokens list 2",
    "agents list",
    "agents show 1",
    "capabilities list",
    "capabilities registered --group 1",
    "tools list --agent 1",
    "tools list --agent 1 --user 2",
    "explain --agent 1 --user 2 hello_poems",
    "settings list",
    "secrets list",
    "packages list",
    "chats list --user 2",
    "calls list",
    "plugins list",
)


@pytest.fixture
def server(demo: Program) -> Iterator[Serving]:
    """A server on the data of the demo."""
    with serving(demo) as server:
        yield server


@pytest.mark.timeout(300)
def test_remote_answers_are_the_local_ones(demo: Program, server: Serving):
    """Reading gives the same JSON in process and over the network; a change made there is seen
    here."""
    made = demo.run("tokens", "create", "1", "--name", "remote", "--json")
    remote = {"TOOLCRIB_URL": server.url, "TOOLCRIB_TOKEN": json.loads(made.stdout)["token"]}
    jobs = [Job(arguments=[*line.split(), "--json"]) for line in SAME]
    here = dict(zip(SAME, run_many(demo, jobs), strict=True))
    there = dict(zip(SAME, run_many(replace(demo, extra=remote), jobs), strict=True))
    assert [line for line in SAME if here[line].code] == []
    assert there == here
    created = demo.run("groups", "create", "Remote", "--json", extra=remote)
    shown = demo.run("groups", "show", str(json.loads(created.stdout)["id"]), "--json")
    assert json.loads(shown.stdout) == json.loads(created.stdout)


@pytest.mark.timeout(300)
def test_remote_errors_end_alike(demo: Program, server: Serving):
    """Not found, conflict, refused: the same codes as in process, told on stderr."""
    admin = json.loads(demo.run("tokens", "create", "1", "--name", "x", "--json").stdout)["token"]
    user = json.loads(demo.run("tokens", "create", "2", "--name", "x", "--json").stdout)["token"]
    expected = {
        "groups show 99": (admin, 3),
        "capabilities activate hello --group 1": (admin, 5),
        "agents create Nobody --capability nothing --group 1": (admin, 6),
        "groups create Mine": (user, 4),
        "tools call --agent 1 hello_greet {}": (user, 2),
        "groups list": ("wrong", 4),
    }
    jobs = [
        Job(arguments=[*line.split(), "--url", server.url, "--token", token])
        for line, (token, _) in expected.items()
    ]
    codes = dict(zip(expected, [one.code for one in run_many(demo, jobs)], strict=True))
    assert codes == {line: code for line, (_, code) in expected.items()}


def test_token_is_needed(program: Program):
    """Without a token nothing is sent, and the message says how to give one."""
    done = program.run("groups", "list", "--url", "http://127.0.0.1:1")
    assert (done.returncode, "TOOLCRIB_TOKEN" in done.stderr) == (4, True)


def test_nobody_answers(program: Program):
    """A server that is not there is named."""
    done = program.run("groups", "list", "--url", "http://127.0.0.1:1", "--token", "x")
    assert (done.returncode, done.stdout) == (8, "")
    assert "http://127.0.0.1:1" in done.stderr


@pytest.fixture
def stranger() -> Iterator[str]:
    """The address of some other web server."""

    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"<html>Welcome</html>")

        def log_message(self, *args: object) -> None:
            """Quiet."""

    with HTTPServer(("127.0.0.1", 0), Page) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_somebody_else_answers(program: Program, stranger: str):
    """A page that is not REST's is an error that says whose address to check."""
    done = program.run("groups", "list", "--url", stranger, "--token", "x")
    assert (done.returncode, done.stdout) == (8, "")
    assert "not JSON" in done.stderr
