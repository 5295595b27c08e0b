"""Other gateways in front of the benchmark's endpoint, each in an environment of its own.

A gateway that cannot be installed is a reason why it is absent, not a failure of the benchmark.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import subprocess
import sys
import tempfile
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import httpx2
from _processes import Served, served
from http_tools import CACHE

_INSTALLING = 600
"""Seconds that an installation may take."""


@dataclass(frozen=True)
class Peer:
    """`tool` is what the endpoint is called there."""

    server: Served
    url: str
    tool: str
    token: str = ""


@contextlib.contextmanager
def fastmcp(place: str) -> Generator[Peer | str]:
    """FastMCP's server of the endpoint, made from an OpenAPI document."""
    python = _installed("fastmcp", "fastmcp>=4", "uvloop")
    if not isinstance(python, Path):
        yield python
        return
    with served("_fastmcp:app", env={"UPSTREAM": place}, python=str(python)) as server:
        yield Peer(server=server, url=f"http://{server.place}/mcp", tool="get_echo")


@contextlib.contextmanager
def contextforge(place: str) -> Generator[Peer | str]:
    """ContextForge with the endpoint as a REST tool: one worker, SQLite, its own token."""
    python = _installed("contextforge", "mcp-contextforge-gateway")
    if not isinstance(python, Path):
        yield python
        return
    key = secrets.token_urlsafe(32)
    with tempfile.TemporaryDirectory() as folder:
        env = _contextforge_settings(Path(folder), key)
        with served("mcpgateway.main:app", env=env, python=str(python)) as server:
            token = _token(python, env)
            base = f"http://{server.place}"
            name = _registered(base, token, f"http://{place}/echo")
            yield Peer(server=server, url=f"{base}/mcp/", tool=name, token=token)


def _installed(name: str, *packages: str) -> Path | str:
    """The Python of the environment that has them, or the reason why there is none."""
    python = CACHE / name / "bin" / "python"
    ready = CACHE / name / "ready"
    if ready.exists():
        return python
    try:
        _run([sys.executable, "-m", "venv", "--clear", str(CACHE / name)])
        _run([str(python), "-m", "pip", "install", "-q", *packages])
    except (OSError, subprocess.SubprocessError) as error:
        return f"{type(error).__name__}: it could not be installed"
    ready.touch()
    return python


def _run(command: Sequence[str], env: Mapping[str, str] | None = None) -> str:
    environment = {**os.environ, **(env or {})}
    done = subprocess.run(
        command, check=True, capture_output=True, text=True, timeout=_INSTALLING, env=environment
    )
    return done.stdout


def _contextforge_settings(folder: Path, key: str) -> dict[str, str]:
    """No limit of calls, no pages, and loopback allowed: what costs it only what it must."""
    return {
        "DATABASE_URL": f"sqlite:///{folder}/mcp.db",
        "JWT_SECRET_KEY": key,
        "AUTH_ENCRYPTION_SECRET": key,
        "AUTH_REQUIRED": "true",
        "PLATFORM_ADMIN_EMAIL": "admin@example.com",
        "PLATFORM_ADMIN_PASSWORD": f"A1!{key}",
        "BASIC_AUTH_PASSWORD": f"A1!{key}",
        "SSRF_ALLOW_LOCALHOST": "true",
        "SSRF_ALLOW_PRIVATE_NETWORKS": "true",
        "MCPGATEWAY_UI_ENABLED": "false",
        "MCPGATEWAY_ADMIN_API_ENABLED": "false",
        "PLUGINS_ENABLED": "false",
        "RATE_LIMITING_ENABLED": "false",
        "LOG_LEVEL": "CRITICAL",
        "PYTHONWARNINGS": "ignore",
        "HOME": str(folder),
    }


def _token(python: Path, env: Mapping[str, str]) -> str:
    command = [str(python), "-m", "mcpgateway.utils.create_jwt_token"]
    return _run([*command, "--username", "admin@example.com", "--exp", "600"], env).split()[-1]


def _registered(base: str, token: str, url: str) -> str:
    """The name under which the endpoint is offered."""
    schema = {
        "type": "object",
        "properties": {"city": {"type": "string"}, "n": {"type": "integer"}},
        "required": ["city", "n"],
    }
    tool = {
        "name": "echo",
        "url": url,
        "description": "Echoes.",
        "integration_type": "REST",
        "request_type": "GET",
        "input_schema": schema,
    }
    headers = {"Authorization": f"Bearer {token}"}
    answer = httpx2.post(f"{base}/tools", json={"tool": tool}, headers=headers, timeout=60)
    answer.raise_for_status()
    return answer.json()["name"]
