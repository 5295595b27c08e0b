"""This module says of an MCP capability that its tools are the model vendor's to call."""

from __future__ import annotations

from toolcrib.catalog.capabilities import Capability
from toolcrib.resolution.conditions import Situation
from toolcrib.resolution.offering import Found
from toolcrib.resolution.toolset import Absence


class HostedServers:
    """Capabilities of type mcp: attached to a model's request, never called by Toolcrib."""

    async def find(self, capability: Capability, situation: Situation) -> Found:
        absence = Absence(
            stage="source",
            ref=f"mcp:{capability.id}",
            reason="the server is hosted: a model's vendor connects to it, not Toolcrib",
            fix="Use it from LangChain: attach_mcp gives it to the model.",
            code=capability.code,
        )
        return (), (absence,)
