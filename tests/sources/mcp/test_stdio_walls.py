"""Servers that are started behind walls: a read-only machine, a home of their own, no more."""

from __future__ import annotations

import os
import pwd
from collections.abc import AsyncGenerator, Callable
from pathlib import Path

import pytest

from tests.sources.mcp.conftest import SHORT, Bench, until
from tests.support.walls import isolation
from toolcrib.isolation.confinement import Confinement
from toolcrib.isolation.probing import Isolation
from toolcrib.sources.mcp.servers import StdioServer

PYTHON = "/usr/bin/python3"
SERVER = """
import json, os, subprocess, sys
for line in sys.stdin:
    asked = json.loads(line)
    method, number = asked.get("method"), asked.get("id")
    if number is None:
        continue
    if method == "initialize":
        result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
                  "serverInfo": {"name": "s", "version": "1"}}
    elif method == "tools/list":
        result = {"tools": [{"name": "sh", "inputSchema": {"type": "object"}}]}
    elif method == "tools/call":
        command = asked["params"]["arguments"]["command"]
        done = subprocess.run(["/bin/sh", "-c", command], capture_output=True, text=True)
        result = {"content": [{"type": "text", "text": done.stdout + done.stderr}]}
    else:
        print(json.dumps({"jsonrpc": "2.0", "id": number,
                          "error": {"code": -32601, "message": "unknown"}}), flush=True)
        continue
    print(json.dumps({"jsonrpc": "2.0", "id": number, "result": result}), flush=True)
"""


@pytest.fixture
async def confined(tmp_path: Path) -> AsyncGenerator[Callable[..., Bench]]:
    """A pool whose servers run behind walls; `data` is what belongs to the installation."""
    isolation()
    made: list[Bench] = []

    def make(look: Isolation | None = None) -> Bench:
        bench = Bench(SHORT, (PYTHON,))
        data = tmp_path / "data"
        bench.pool._policy.walls = Confinement(
            folder=data / "servers", hidden=(data,), isolation=look
        )
        made.append(bench)
        return bench

    yield make
    for bench in made:
        await bench.close()


def server(**env: str) -> StdioServer:
    return StdioServer(command=PYTHON, args=("-c", SERVER), env=env)


async def test_what_a_confined_server_may(
    confined: Callable[..., Bench], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It reads the machine, and neither our data nor our environment; it writes only at home."""
    monkeypatch.setenv("TOOLCRIB_VAULT_KEYS", "the-secret")
    data = tmp_path / "data"
    data.mkdir()
    (data / "vault.key").write_text("the-secret")
    bench = confined()
    upstream = await bench.upstream(server(DECLARED="yes"))

    async def sh(command: str) -> list[str]:
        output, _ = await bench.call(upstream, "sh", {"command": command})
        assert output.error is None, output
        return output.text.splitlines()

    names = {line.partition("=")[0] for line in await sh("env")}
    assert names == {*("DECLARED", "HOME", "LANG", "PATH", "PWD", "TMPDIR", "USER")} | (
        names & {"LC_CTYPE", "SHLVL", "OLDPWD"}
    )
    assert "the-secret" not in "".join(await sh("cat /proc/*/environ"))
    assert "No such file" in (await sh(f"cat {data}/vault.key"))[0]
    assert (await sh("id -u; echo $HOME; pwd; head -c 5 /etc/passwd")) == [
        *("65534", "/home/server", "/home/server", "root:"),
    ]
    root_home = pwd.getpwuid(0).pw_dir
    for place in ("/etc/new", "/usr/new", "/home/new", "/dev/new", f"{root_home}/new", "/new"):
        said = (await sh(f"touch {place}"))[0]
        assert any(word in said for word in ("Read-only", "No such file", "denied")), said
    await sh(f"touch {tmp_path}/new")
    assert not (tmp_path / "new").exists()  # its /tmp is its own
    assert await sh("touch mine /tmp/short && ls -A ~") == ["mine"]
    assert await sh("ls -A /root /run /home | grep -v :") in (
        ["", "", "server"],
        ["server", "", ""],
    )
    assert await sh("grep -cE 'CapEff:.0000000000000000|NoNewPrivs:.1' /proc/self/status") == ["2"]
    homes = list((data / "servers").iterdir())
    assert [sorted(one.name for one in home.iterdir()) for home in homes] == [["mine"]]
    if os.geteuid() == 0:
        assert homes[0].stat().st_uid > 1_900_000_000


async def test_nothing_of_a_confined_server_stays(confined: Callable[..., Bench]) -> None:
    """Not even a child that left its process group: the pid namespace goes as a whole."""
    bench = confined()
    upstream = await bench.upstream(server())
    await bench.call(upstream, "sh", {"command": "setsid sleep 424242 >/dev/null 2>&1 &"})
    assert running("424242")
    await bench.pool.close()
    await until(lambda: not running("424242"))


async def test_without_walls_nothing_is_started(confined: Callable[..., Bench]) -> None:
    """Where the operator wants walls and the machine has none, the server fails with the reason."""
    bench = confined(Isolation(reason="bubblewrap is not installed", fix="apt-get install it"))
    upstream = await bench.upstream(server())
    state = await upstream.look()
    assert state.status == "failed"
    assert "bubblewrap is not installed" in str(state.error)


def running(word: str) -> bool:
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and word in (entry / "cmdline").read_bytes().decode():
                return True
        except OSError:
            continue
    return False
