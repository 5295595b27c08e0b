"""The help: every command explains itself, and every example that it shows works."""

from __future__ import annotations

import json
import shlex
import shutil
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.cli.tree import commands, examples
from tests.support.environments import Job, Program, run_many

LEAVES = dict(commands())
RUNS_ON = {"serve", "mcp serve"}
"""Commands that do not end by themselves; tests of their own start them."""
KNOWLEDGE_SEARCH = {
    "slug": "knowledge_search",
    "name": "Knowledge Search",
    "type": "http",
    "config": {"url": "{{KB_SEARCH_URL}}", "headers": {"X-API-Key": "{{KB_API_KEY}}"}},
    "input_schema": {"type": "object", "properties": {"query": {"type": "string"}}},
}
WEATHER = {
    "name": "Weather",
    "code": "weather",
    "type": "api",
    "options": {"url": "https://weather.example/{city}"},
}
SERVER = {
    "name": "Wiki",
    "code": "wiki",
    "type": "mcp",
    "options": {"server_label": "wiki", "server_url": "https://wiki.example/mcp"},
}
FILES = {
    "token.txt": "a-token-of-the-crm",
    "password.txt": "correct horse battery",
    "notes.txt": "Sharpen the chisels",
    "arguments.json": '{"name": "Grace"}',
    "knowledge-search.json": json.dumps({**KNOWLEDGE_SEARCH, "slug": "kb_search"}),
    "knowledge-search-2.json": json.dumps(KNOWLEDGE_SEARCH),
    "weather.json": json.dumps(WEATHER),
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


class Fine(BaseHTTPRequestHandler):
    """An upstream that answers every question."""

    def do_GET(self) -> None:
        if "/.well-known/" in self.path:
            issuer = f"http://{self.headers['Host']}"
            self._answer({"issuer": issuer, "token_endpoint": f"{issuer}/token"})
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/plain")
        self.end_headers()
        self.wfile.write(b"from nine to five")

    def do_POST(self) -> None:
        self._answer({"access_token": "a-token-for-a-machine", "token_type": "Bearer"})

    def _answer(self, document: dict[str, str]) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps(document).encode())

    def log_message(self, *args: object) -> None:
        """Quiet."""


@pytest.fixture
def upstream() -> Iterator[str]:
    """`host:port` of an upstream for packages."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Fine) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def mailing(upstream: str) -> dict[str, object]:
    """A server that wants a login, which a machine makes without anybody."""
    login = {
        "type": "oauth2",
        "grant": "client_credentials",
        "client_id": "crib",
        "client_secret": "of-the-crib",
        "issuer": f"http://{upstream}",
    }
    options = {"server_label": "mail", "server_url": "https://mail.example/mcp", "auth": login}
    return {**SERVER, "name": "Mail", "code": "mail", "options": options}


def prepared(demo: Program, upstream: str) -> dict[str, str]:
    """Put in place what examples speak of; returns the words that stand for ids."""
    package = json.dumps(KNOWLEDGE_SEARCH)
    for line, stdin in (
        ("chats create --agent 1", ""),
        ("settings set CRM_TOKEN --group 1", "a-token-of-the-crm"),
        ("packages install -", package),
        ("secrets set KB_SEARCH_URL", f"http://{upstream}/search"),
        ("secrets set KB_API_KEY", "a-key-of-the-search"),
        ("agents create Reader --capability installed__knowledge_search", ""),
    ):
        done = demo.run(*line.split(), stdin=stdin)
        assert done.returncode == 0, done.stderr
    server = demo.run("capabilities", "create", "-", "--json", stdin=json.dumps(SERVER))
    assert server.returncode == 0, server.stderr
    mail = demo.run("capabilities", "create", "-", "--json", stdin=json.dumps(mailing(upstream)))
    assert mail.returncode == 0, mail.stderr
    wants_login = f"mcp:{json.loads(mail.stdout)['id']}"
    allowed = {"TOOLCRIB_EGRESS_ALLOW": upstream}
    connected = demo.run("mcp", "login", wants_login, extra=allowed)
    assert connected.returncode == 0, connected.stderr
    made = json.loads(demo.run("tokens", "create", "2", "--name", "old", "--json").stdout)
    FILES["tools.lock"] = demo.run("lock", "export", "-").stdout
    calls = json.loads(demo.run("calls", "list", "--json").stdout)
    return {
        "TOKEN_ID": made["id"],
        "CALL_ID": calls["items"][0]["call_id"],
        "mcp:4": wants_login,
        "mcp:3": f"mcp:{json.loads(server.stdout)['id']}",
    }


def job(line: str, words: dict[str, str], data: Path, place: Path, allowed: str) -> Job:
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
    environment = {"TOOLCRIB_DATA_DIR": str(copy), "TOOLCRIB_EGRESS_ALLOW": allowed}
    return Job(arguments=arguments, stdin=stdin, cwd=str(place), environment=environment)


@pytest.mark.timeout(300)
def test_examples_work(demo: Program, upstream: str, tmp_path: Path):
    """Every example ends well after the demo, and with --json prints JSON and nothing else."""
    words = prepared(demo, upstream)
    lines = [
        line + end
        for name, command in LEAVES.items()
        if name not in RUNS_ON
        for line in examples(command)
        for end in ("", " --json")
    ]
    jobs = [
        job(line, words, demo.data_dir, tmp_path / str(n), upstream) for n, line in enumerate(lines)
    ]
    results = dict(zip(lines, run_many(demo, jobs), strict=True))
    assert {line: r for line, r in results.items() if r.code or not r.stdout} == {}
    as_json = {line: r.stdout for line, r in results.items() if line.endswith(" --json")}
    assert len(as_json) == len(lines) // 2
    assert [line for line, printed in as_json.items() if json.loads(printed) is None] == []
