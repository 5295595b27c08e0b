"""This module holds an MCP server's configuration beside the tools that Toolcrib found at it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from langchain_core.tools import BaseTool

Fallback = Literal["connect"] | None
"""What becomes of a server that the model's vendor does not take: `connect` to it, or nothing."""


class ConnectedConfig(dict[str, Any]):
    """A canonical configuration, with tools that call the server through Toolcrib.

    It is a dict as any other configuration; `tools` is for models whose vendor does not connect.
    """

    def __init__(self, config: Mapping[str, Any], tools: Sequence[BaseTool]) -> None:
        super().__init__(config)
        self.tools = list(tools)
