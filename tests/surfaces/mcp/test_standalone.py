"""`toolcrib mcp serve`: a plugin's tools as a server of their own, with real clients."""

from __future__ import annotations

import json
import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from tests.support.environments import Program, make_environment, make_program

PLUGIN = '''
print("printed while loading")

def register(registry_fn, context=None):
    async def where(city: str) -> str:
        """Say where a city is."""
        print("printed while running")
        return f"{city} is north of {await context.get_user_setting_value('HOME_TOWN', 0, None)}"

    registry_fn("places", [where], name="Places")
'''


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment in which a plugin is installed."""
    made = make_environment(tmp_path_factory.mktemp("env"))
    packages = next(made.parent.parent.glob("lib/python*/site-packages"))
    (packages / "places_plugin.py").write_text(PLUGIN)
    info = packages / "places_plugin-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: places-plugin\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[toolcrib.tools]\nplaces = places_plugin:register\n")
    return made


@pytest.fixture
def program(tmp_path: Path, python: Path) -> Program:
    return make_program(tmp_path, python=python, HOME_TOWN="Bergen-town")


@contextmanager
def running(program: Program, *arguments: str) -> Iterator[dict[str, object]]:
    """The server over HTTP, once it has said what it serves."""
    command = ["mcp", "serve", "--code", "places", "--http", "--port", "0", "--json", *arguments]
    process = program.start(*command)
    try:
        assert process.stdout is not None
        line = next(line for line in process.stdout if line.startswith("{"))
        yield json.loads(line)
    finally:
        process.send_signal(signal.SIGTERM)
        _, told = process.communicate(timeout=60)
        assert "Traceback" not in told
        assert process.returncode == 0, told


@pytest.mark.parametrize("mode", ["2026-07-28", "legacy"])
async def test_over_stdio(program: Program, mode: str) -> None:
    """The client that started it lists and calls; what plugins print does not disturb."""
    command, *args = program.command("mcp", "serve", "--code", "places", "--stdio")
    started = StdioServerParameters(command=command, args=args, env=program.environment)
    async with Client(stdio_client(started, errlog=subprocess.DEVNULL), mode=mode) as client:
        listed = await client.list_tools()
        said = await client.call_tool("where", {"city": "Oslo"})
    assert [tool.name for tool in listed.tools] == ["where"]
    # The value of a setting is masked in what leaves a call.
    assert re.fullmatch(r"Oslo is north of \S+", said.content[0].text)
    assert "Bergen-town" not in said.content[0].text
    assert not program.data_dir.joinpath("toolcrib.db").exists()


@pytest.mark.parametrize("mode", ["2026-07-28", "legacy"])
async def test_over_http(program: Program, mode: str) -> None:
    """The same over HTTP at /mcp, for pages and hosts of this machine alone."""
    with running(program) as facts:
        url = str(facts["at"])
        async with Client(streamable_http_client(url), mode=mode) as client:
            said = await client.call_tool("where", {"city": "Oslo"})
        async with httpx2.AsyncClient() as http:
            rebound = await http.post(url, headers={"Host": "evil.example"})
            foreign = await http.post(url, headers={"Origin": "https://evil.example"})
    assert facts["tools"] == ["where"]
    assert said.content[0].text.startswith("Oslo is north of")
    assert (rebound.status_code, foreign.status_code) == (421, 403)


async def test_over_http_with_a_token(program: Program) -> None:
    """Where a token is set, nobody comes in without it."""
    told = Program(
        python=program.python,
        home=program.home,
        data_dir=program.data_dir,
        extra={**program.extra, "TOOLCRIB_MCP_TOKEN": "a-long-token"},
    )
    with running(told) as facts:
        url = str(facts["at"])
        async with httpx2.AsyncClient() as http:
            without = await http.post(url)
            wrong = await http.post(url, headers={"Authorization": "Bearer another-token"})
        async with (
            httpx2.AsyncClient(headers={"Authorization": "Bearer a-long-token"}) as http,
            Client(streamable_http_client(url, http_client=http)) as client,
        ):
            listed = await client.list_tools()
    assert (without.status_code, wrong.status_code) == (401, 401)
    assert [tool.name for tool in listed.tools] == ["where"]


def test_an_unknown_code_is_named(program: Program) -> None:
    """Together with those that are there."""
    done = program.run("mcp", "serve", "--code", "palaces", "--stdio")
    assert done.returncode != 0
    assert "'palaces'" in done.stderr
    assert "places" in done.stderr


def test_an_open_address_needs_a_token(program: Program) -> None:
    """Anybody on the network could call the tools."""
    done = program.run("mcp", "serve", "--code", "places", "--http", "--host", "0.0.0.0")  # noqa: S104
    assert done.returncode != 0
    assert "TOOLCRIB_MCP_TOKEN" in done.stderr
