"""`toolcrib.langchain`: its names, and what they need."""

from __future__ import annotations

import subprocess
import sys

import pytest

import toolcrib.langchain

NAMES = ["attach_mcp", "get_tools_from_capabilities", "repair_invalid_tool_calls"]


@pytest.mark.parametrize("name", NAMES)
def test_name_loads(name: str):
    """Every public name can be had."""
    assert toolcrib.langchain.__all__ == NAMES
    assert getattr(toolcrib.langchain, name) is not None


def test_unknown_name():
    """Another name is an AttributeError that says which."""
    with pytest.raises(AttributeError, match="'nothing'"):
        _ = toolcrib.langchain.nothing


def without_langchain(program: str) -> subprocess.CompletedProcess[str]:
    """Run where only langchain-core is installed."""
    block = (
        "import sys; sys.modules |= dict.fromkeys(['langchain', 'langgraph', 'langchain_openai'])"
    )
    return subprocess.run(
        [sys.executable, "-c", f"{block}\n{program}"], capture_output=True, text=True, check=False
    )


def test_langchain_core_is_enough():
    """Tools can be had and servers handed out without langchain."""
    done = without_langchain(
        "import asyncio\n"
        "from toolcrib import register_tools\n"
        "from toolcrib.langchain import attach_mcp, get_tools_from_capabilities\n"
        "def hello(name: str) -> str:\n"
        "    'Say hello.'\n"
        "    return f'hello {name}'\n"
        "register_tools('hello', [hello])\n"
        "tools, _ = asyncio.run(get_tools_from_capabilities(['hello'], None))\n"
        "server = {'type': 'mcp', 'server_label': 'a', 'server_url': 'https://a.test'}\n"
        "model, all_tools = attach_mcp('openai:gpt-x', tools, [server])\n"
        "print(model, tools[0].invoke('Ada'), all_tools[1] == server)\n"
    )
    assert done.stdout == "openai:gpt-x hello Ada True\n", done.stderr


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ("from toolcrib.langchain import repair_invalid_tool_calls", "toolcrib[agents]"),
        (
            "from toolcrib.langchain import attach_mcp; attach_mcp('anthropic:x', [], [{'a': 1}])",
            "toolcrib[agents,anthropic]",
        ),
    ],
)
def test_what_is_missing_is_named(program: str, said: str):
    """What needs langchain says how to install it."""
    done = without_langchain(program)
    assert done.returncode == 1
    assert "MissingExtra" in done.stderr
    assert said in done.stderr
