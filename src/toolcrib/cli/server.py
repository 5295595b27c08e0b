"""This module looks for the server of this installation and asks it things."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import httpx

from toolcrib.cli.paths import path
from toolcrib.cli.whereabouts import told_in

if TYPE_CHECKING:
    from toolcrib.settings import Settings

_PATIENCE = 10.0
"""Seconds that a server may take to load a plugin."""


def answers(address: str) -> bool:
    """Whether a Toolcrib at this address says that it lives."""
    try:
        return httpx.get(f"{address}/healthz", timeout=3, trust_env=False).is_success
    except httpx.TransportError:
        return False


def running_server(settings: Settings) -> str | None:
    """The address of the server that runs on this data directory."""
    address = told_in(settings.data_dir)
    return address if address and answers(address) else None


async def server_has_tool(address: str, token: str, agent_id: int, tool: str) -> bool:
    """Wait until the server has learned of the tool; False when it does not in ten seconds."""
    headers = {"Authorization": f"Bearer {token}"}
    url = f"{address}{path('agents', agent_id, 'tools')}"
    async with httpx.AsyncClient(headers=headers, timeout=5, trust_env=False) as http:
        try:
            async with asyncio.timeout(_PATIENCE):
                while True:
                    answer = await http.get(url)
                    if answer.is_success and tool in [t["name"] for t in answer.json()["tools"]]:
                        return True
                    await asyncio.sleep(0.1)
        except (TimeoutError, httpx.TransportError):
            return False
