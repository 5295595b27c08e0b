"""A test of a package whose server tells the arguments: it is called with what that tells."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest

from tests.support.crib import Crib, Person, open_crib
from toolcrib.settings import Settings

SAYS = {"type": "object", "properties": {"s": {"type": "string"}}, "required": ["s"]}
PAGES = {"": {"tools": [{"name": "echo", "inputSchema": SAYS}]}}
STDIO = Path(__file__).parents[1] / "support" / "mcp_stdio.py"


@pytest.fixture
async def crib(data_dir: Path) -> AsyncGenerator[Crib]:
    settings = Settings(data_dir=data_dir, stdio_allow=(Path(sys.executable).name,))
    async with open_crib(settings) as opened:
        yield opened


@pytest.fixture
async def root(crib: Crib) -> Person:
    return await crib.somebody(1)


async def trial(
    root: Person, arguments: object = None, *, lacks: bool = False, **behaviour: Any
) -> dict[str, Any]:
    """Install the package `say` and test it; what the test answers."""
    args = [str(STDIO), json.dumps({"pages": PAGES, **behaviour})]
    config: dict[str, Any] = {"command": sys.executable, "args": args, "tool_name": "echo"}
    if lacks:
        config["env"] = {"KEY": "{{SAY_KEY}}"}
    package = {"slug": "say", "name": "Say", "type": "mcp_stdio", "config": config}
    assert (await root.api.post("/admin/tools/install", json=package)).status_code == 201
    body = None if arguments is None else {"arguments": arguments}
    answer = await root.api.post("/admin/tools/say/test", json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def test_arguments_reach_the_server(root: Person) -> None:
    """The package says nothing of arguments; a fresh process knows no server yet."""
    tested = await trial(root, {"s": "hello"})
    assert (tested["success"], tested["text"]) == (True, "hello")


async def test_arguments_are_those_that_the_server_tells(root: Person) -> None:
    """What its schema does not know is refused before the call, as agents are refused."""
    tested = await trial(root, {"s": "hello", "other": 1})
    assert tested["error"]["code"] == "invalid_arguments"


async def test_without_arguments_the_tool_is_looked_for(root: Person) -> None:
    """Nothing is called."""
    tested = await trial(root)
    assert (tested["success"], tested["text"]) == (True, "The server has the tool 'echo'.")


async def test_a_server_that_is_away_is_what_is_wrong(root: Person) -> None:
    """Not the arguments, of which nobody can tell."""
    tested = await trial(root, {"s": "hello"}, exit_before=3, say="missing API key")
    assert tested["error"]["code"] == "unreachable"
    assert "missing API key" in tested["error"]["message"]


async def test_a_missing_secret_is_what_is_wrong(root: Person) -> None:
    """It is named, and nothing is started."""
    tested = await trial(root, {"s": "hello"}, lacks=True)
    assert tested["error"]["code"] == "secret_missing"
    assert "SAY_KEY" in tested["error"]["message"]
