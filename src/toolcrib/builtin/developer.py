"""This module holds what only developers want: a tool that takes its time."""

from __future__ import annotations

import asyncio

from toolcrib.builtin.tool import BuiltIn
from toolcrib.kit.metadata import method_metadata, tool_metadata
from toolcrib.kit.result import ToolResult
from toolcrib.kit.schema import openapi_schema, param
from toolcrib.plugin.registration import annotations


@tool_metadata(
    "Developer tools",
    "Try out slow tools",
    icon="bug",
    color="gray",
    weight=900,
    usage_guide="`wait_seconds` answers after a while: for trying out deadlines and progress.",
    category="utility",
)
class DeveloperTool(BuiltIn):
    """Offered in the development environment alone."""

    @method_metadata("Wait", "Answers after a while")
    @annotations(read_only=True)
    @openapi_schema(name="wait_seconds", description="Answer after some seconds.")
    @param("seconds", "number", "How long", required=True, minimum=0, maximum=600)
    async def wait_seconds(self, seconds: float) -> ToolResult:
        await asyncio.sleep(seconds)
        return self.success_response(f"Waited {seconds:g} seconds.")
