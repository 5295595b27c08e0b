"""`toolcrib mcp login`: the address, then the code, asked of a person or given later."""

from __future__ import annotations

import asyncio
import json
import os
import re
import socket
import sys
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

import httpx
import pytest

from tests.support.crib import Person
from tests.support.listening import listening
from tests.support.logging_in import World, code_of, open_world

pytestmark = pytest.mark.timeout(180)


@pytest.fixture
async def world(data_dir: Path) -> AsyncIterator[World]:
    """One that a browser and a program reach."""
    with socket.create_server(("127.0.0.1", 0)) as place:
        public = f"http://127.0.0.1:{place.getsockname()[1]}"
        async with (
            open_world(data_dir, public_url=public) as made,
            listening(made.crib.app, place),
        ):
            yield made


def environment(world: World, person: Person) -> Mapping[str, str]:
    return {
        **os.environ,
        "TOOLCRIB_URL": world.crib.platform.settings.public_url,
        "TOOLCRIB_TOKEN": person.token,
    }


async def started(world: World, *arguments: str, stdin: int) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "toolcrib.cli",
        "mcp",
        "login",
        *arguments,
        stdin=stdin,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=environment(world, world.tenants.user_a),
    )


async def ran(world: World, *arguments: str) -> tuple[int, str, str]:
    """`(exit code, stdout, stderr)`, without a terminal."""
    process = await started(world, *arguments, stdin=asyncio.subprocess.DEVNULL)
    out, err = await process.communicate()
    return process.returncode or 0, out.decode(), err.decode()


async def code_at(world: World, url: str) -> str:
    """The code that a browser comes to see at this address."""
    async with httpx.AsyncClient(trust_env=False) as browser:
        return code_of(await browser.get(await world.coming(url, browser)))


async def test_a_person_is_asked_for_the_code(world: World) -> None:
    """At a terminal: the address first, then the code, again after a slip."""
    ref = f"mcp:{await world.row()}"
    terminal, end = os.openpty()
    try:
        process = await started(world, ref, stdin=end)
        assert process.stderr is not None
        assert process.stdout is not None
        shown = ""
        while not (found := re.search(r"http://\S+/oauth/login/\S+\s", shown)):
            piece = await process.stderr.read(4096)
            assert piece, shown
            shown += piece.decode()
        code = await code_at(world, found[0].strip())
        os.write(terminal, f"BBBB-BBBB\n{code.lower()}\n".encode())
        out, err = await process.communicate()
        shown += err.decode()
        assert process.returncode == 0, shown
        assert "4 tries are left" in shown
        assert f"{ref} is connected." in out.decode()
    finally:
        os.close(terminal)
        os.close(end)
    [row] = await world.shown(world.tenants.user_a)
    assert row["status"] == "connected"


async def test_the_code_is_given_later(world: World) -> None:
    """Without a terminal: the address, how to go on, and the exit code of what went wrong."""
    ref = f"mcp:{await world.row()}"
    code, out, err = await ran(world, ref, "--json")
    assert code == 0, err
    url = json.loads(out)["url"]
    early = await ran(world, ref, "--code", "BBBB-BBBB")
    assert early[0] != 0
    assert "has not come back" in early[2]
    right = await code_at(world, url)
    wrong = await ran(world, ref, "--code", "BBBB-BBBB")
    assert wrong[0] != 0
    assert "4 tries are left" in wrong[2]
    code, out, err = await ran(world, ref, "--code", right, "--json")
    assert code == 0, err
    assert json.loads(out)["status"] == "connected"
    _, out, _ = await ran(world, ref)
    assert "Open this address yourself" in out
    assert f"toolcrib mcp login {ref} --code CODE" in out
