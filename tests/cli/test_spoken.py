"""Hints in commands: what a message says in requests, the command line says in its own words."""

from __future__ import annotations

import shlex

import pytest

from tests.cli.tree import commands
from tests.support.environments import Program
from toolcrib.cli.spoken import in_commands

SAID = {
    "GET /api/v1/agents lists what there is.": "`toolcrib agents list` lists what there is.",
    "look at GET /api/v1/plugins.": "look at `toolcrib plugins list`.",
    "GET /api/super-admin/capabilities lists": "`toolcrib capabilities list` lists",
    "GET /api/v1/pins?state=held lists": "`toolcrib lock status` lists",
    "GET /admin/tools lists": "`toolcrib packages list` lists",
    "GET /admin/secrets lists": "`toolcrib secrets list` lists",
    "GET /api/v1/users/3/tokens lists": "`toolcrib tokens list 3` lists",
    "GET /api/v1/agents/4/tools lists": "`toolcrib tools list --agent 4` lists",
    "GET /api/v1/explain?agent=6&tool=find_part says why.": (
        "`toolcrib explain find_part --agent 6` says why."
    ),
    "GET /api/v1/explain?agent=6&tool=a%20%60b says why.": (
        "`toolcrib explain 'a `b' --agent 6` says why."
    ),
    "Set it with PUT /admin/secrets/KEY.": "Set it with `toolcrib secrets set KEY`.",
    "PUT /admin/secrets/KEY": "`toolcrib secrets set KEY`",
    "Set it with PUT /api/v1/settings/KEY.": "Set it with `toolcrib settings set KEY`.",
    "POST /admin/tools/time/enable": "`toolcrib packages enable time`",
    "POST /admin/tools/time/test tells more.": "`toolcrib packages test time` tells more.",
    "with POST /admin/tools/install.": "with `toolcrib packages install FILE`.",
    "with PUT /admin/tools/time.": "with `toolcrib packages replace FILE`.",
    "then POST /api/v1/mcp/servers/mcp:6/refresh.": "then `toolcrib mcp refresh mcp:6`.",
}


@pytest.mark.parametrize(("request_", "command"), SAID.items())
def test_requests_become_commands(request_: str, command: str):
    """The words around a request stay as they are."""
    assert in_commands(request_) == command


@pytest.mark.parametrize("command", SAID.values())
def test_said_commands_exist(command: str):
    """No hint sends anybody to a command that is not there."""
    words = shlex.split(command.partition("`toolcrib ")[2].rpartition("`")[0])
    known = {name for name, _ in commands()}
    assert {words[0], " ".join(words[:2])} & known


@pytest.mark.parametrize(
    "text",
    [
        "GET /api/v1/chats/3/documents lists those it has.",
        "Change it with PATCH /api/v1/agents/{id}.",
        "GET /tools lists them.",
        "GET /api/v1/agentship",
        "Nothing of the kind.",
    ],
)
def test_others_stay(text: str):
    """A request that no command makes is left as it is."""
    assert in_commands(text) == text


def test_errors_speak_in_commands(program: Program):
    """A hint names the command; JSON keeps to what REST says."""
    done = program.run("agents", "show", "99")
    assert done.returncode == 3
    assert "`toolcrib agents list` lists what there is." in done.stderr
    assert "GET /" not in done.stderr
