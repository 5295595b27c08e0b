"""This module says in commands what hints and fixes say in requests: people here have a shell."""

from __future__ import annotations

import re
from shlex import quote
from urllib.parse import unquote

_VALUE = r"([^\s/`'\"?&;,]*[^\s/`'\"?&;,.])"
_END = r"(?![\w/?{-])"
_COMMANDS = tuple(
    (re.compile(request + _END), command)
    for request, command in (
        (rf"GET /api/v1/explain\?agent=(\d+)&tool={_VALUE}", "explain {1} --agent {0}"),
        (r"GET /api/v1/agents/(\d+)/tools", "tools list --agent {0}"),
        (r"GET /api/v1/users/(\d+)/tokens", "tokens list {0}"),
        (r"GET /api/v1/(agents|calls|chats|groups|plugins|settings|users)", "{0} list"),
        (r"GET /api/super-admin/capabilities", "capabilities list"),
        (r"GET /api/v1/pins\?state=held", "lock status"),
        (r"GET /admin/tools", "packages list"),
        (r"GET /admin/secrets", "secrets list"),
        (rf"PUT /api/v1/settings/{_VALUE}", "settings set {0}"),
        (rf"PUT /admin/secrets/{_VALUE}", "secrets set {0}"),
        (r"POST /admin/tools/install", "packages install FILE"),
        (rf"POST /admin/tools/{_VALUE}/(enable|test)", "packages {1} {0}"),
        (rf"PUT /admin/tools/{_VALUE}", "packages replace FILE"),
        (rf"POST /api/v1/mcp/servers/{_VALUE}/refresh", "mcp refresh {0}"),
    )
)


def in_commands(text: str) -> str:
    """The text with `toolcrib …` where it names a request that a command makes."""
    for request, command in _COMMANDS:
        text = request.sub(lambda found, said=command: _said(said, found), text)
    return text


def _said(command: str, found: re.Match[str]) -> str:
    words = [quote(unquote(word)) for word in found.groups()]
    return f"`toolcrib {command.format(*words)}`"
