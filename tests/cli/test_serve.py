"""`toolcrib serve`: where it listens, what it says, how it ends."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
from pathlib import Path

import httpx
import pytest

from tests.support.environments import Program, make_program
from tests.support.serving import ADDRESS, TOKEN, serving, until
from toolcrib.cli.listening import address_of, is_loopback, listen
from toolcrib.errors import InvalidSettings


def test_first_start_says_what_it_made_and_the_second_does_not(program: Program):
    """Key and token are made once; the address is printed each time in the same form."""
    with serving(program) as server:
        first = server.output
        token = server.token
        assert server.stop() == 0
    assert str(program.data_dir / "vault.key") in first
    assert "toolcrib demo" in first
    with serving(program) as server:
        second = server.output
        headers = {"Authorization": f"Bearer {token}"}
        answer = httpx.get(f"{server.url}/api/v1/me", headers=headers, trust_env=False)
    assert (answer.status_code, answer.json()["role"]) == (200, "super_admin")
    assert (len(TOKEN.findall(second)), "vault.key" in second) == (0, False)
    assert len(ADDRESS.findall(second)) >= 1


def test_json_says_the_same(program: Program):
    """With --json the facts are one JSON object on stdout."""
    process = program.start("serve", "--port", "0", "--json")
    assert process.stdout is not None
    try:
        lines: list[str] = []
        for line in process.stdout:
            lines.append(line)
            if line.startswith("}"):
                break
        facts = json.loads("".join(lines))
    finally:
        process.terminate()  # in the middle of its start
        process.communicate(timeout=100)
    assert process.returncode == 0
    assert ADDRESS.fullmatch(facts["url"])
    assert TOKEN.fullmatch(facts["admin_token"])
    assert facts["new_key_file"] == str(program.data_dir / "vault.key")


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_stops_in_order(program: Program, how: signal.Signals):
    """A signal ends it with 0, without a stack trace, and its address is forgotten."""
    with serving(program) as server:
        assert (program.data_dir / "server.url").read_text().strip() == server.url
        assert server.stop(how) == 0
        for reader in server.readers:
            reader.join()
        assert "Traceback" not in server.output
    assert not (program.data_dir / "server.url").exists()


def test_given_token_opens_and_is_not_printed(tmp_path: Path):
    """TOOLCRIB_ADMIN_TOKEN is honoured; no other token is made or shown."""
    program = make_program(tmp_path, TOOLCRIB_ADMIN_TOKEN="a-token-of-the-operator-0123456789")
    with serving(program) as server:
        headers = {"Authorization": "Bearer a-token-of-the-operator-0123456789"}
        answer = httpx.get(f"{server.url}/api/v1/me", headers=headers, trust_env=False)
        shown = server.output
    assert answer.status_code == 200
    assert (TOKEN.findall(shown), "a-token-of-the-operator" in shown) == ([], False)


def test_taken_port(program: Program):
    """The message names the port and the way out, and nothing was made."""
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        done = program.run("serve", "--port", str(port))
    assert (done.returncode, done.stdout) == (7, "")
    assert f"Port {port} of 127.0.0.1 is taken" in done.stderr
    assert "--port 0" in done.stderr
    assert not program.data_dir.exists()


def test_several_workers_share_the_port(program: Program):
    """With two workers, two processes answer, and both end when the first one is told to."""
    with serving(program, "--workers", "2") as server:
        until(lambda: len(children(server.process.pid)) >= 2)
        workers = children(server.process.pid)
        headers = {"Authorization": f"Bearer {server.token}"}
        for _ in range(8):
            assert httpx.get(f"{server.url}/api/v1/me", headers=headers).status_code == 200
        assert server.stop() == 0
    assert [pid for pid in workers if Path(f"/proc/{pid}").exists()] == []


def children(pid: int) -> list[int]:
    """The direct children that run Python's server (not multiprocessing's own tracker)."""
    found = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [int(one) for one in found if b"spawn_main" in command_of(one)]


def command_of(pid: str) -> bytes:
    return Path(f"/proc/{pid}/cmdline").read_bytes()


def test_log_is_json_without_tokens(tmp_path: Path):
    """Each log line is an object; a request with a token leaves no trace of it."""
    program = make_program(tmp_path, TOOLCRIB_LOG_FORMAT="json", TOOLCRIB_LOG_LEVEL="debug")
    with serving(program) as server:
        token = server.token
        params = {"cursor": token}
        headers = {"Authorization": f"Bearer {token}"}
        httpx.get(f"{server.url}/api/v1/users", headers=headers, params=params)
        server.stop()
        for reader in server.readers:
            reader.join()
        lines = [line for line in server.printed if line.startswith("{")]
    assert lines
    assert [line for line in lines if "event" not in json.loads(line)] == []
    assert [line for line in lines if token in line] == []


def test_log_shows_no_rows(tmp_path: Path):
    """Whoever looks for a mistake reads what the server does, not what is in the database."""
    program = make_program(tmp_path, TOOLCRIB_LOG_LEVEL="debug")
    with serving(program) as server:
        headers = {"Authorization": f"Bearer {server.token}"}
        made = httpx.post(
            f"{server.url}/api/v1/groups", headers=headers, json={"name": "Nobody reads this"}
        )
        assert made.status_code == 201
        server.stop()
        for reader in server.readers:
            reader.join()
        printed = "\n".join(server.printed)
    assert "loaded" in printed
    assert "Nobody reads this" not in printed
    assert "SELECT" not in printed


def test_warns_off_loopback(program: Program):
    """Reachable from the network without TLS or a proxy: said so on stderr."""
    with serving(program, "--host", "0.0.0.0") as server:  # noqa: S104 - what is tested
        until(lambda: "TOOLCRIB_TRUSTED_PROXIES" in server.output)


@pytest.mark.parametrize(
    ("host", "form", "loopback"),
    [
        ("127.0.0.1", "http://127.0.0.1:", True),
        ("localhost", "http://", True),
        ("0.0.0.0", "http://0.0.0.0:", False),  # noqa: S104
    ],
)
def test_listens_on_the_address(host: str, form: str, loopback: bool):
    """A free port is found, and the address is written as a URL."""
    with listen(host, 0) as taken:
        assert address_of(taken).startswith(form)
        assert (is_loopback(taken), taken.getsockname()[1] > 0) == (loopback, True)


@pytest.mark.parametrize("host", ["no such host", "nowhere.invalid", "192.0.2.1"])
def test_addresses_that_are_not_ours(host: str):
    """The host is named."""
    with pytest.raises(InvalidSettings, match=host):
        listen(host, 0)


LEAN = """
import asyncio, sys
from toolcrib.cli import app, logs, preparing, serve, serving
from toolcrib.cli.environment import read_settings
from toolcrib.asgi import create_app
asyncio.run(preparing.prepare(read_settings()))
create_app()
print([name for name in ("langchain_core", "langchain", "alembic", "mako", "httpx", "pip")
       if name in sys.modules])
"""


def test_way_to_the_first_answer_is_lean(program: Program):
    """On an existing database the server answers without LangChain, migrations or a client."""
    program.run("db", "upgrade")
    done = subprocess.run(
        [program.python, "-c", LEAN],
        capture_output=True,
        text=True,
        env=program.environment,
        check=False,
    )
    assert (done.stdout.strip(), done.returncode) == ("[]", 0), done.stderr
