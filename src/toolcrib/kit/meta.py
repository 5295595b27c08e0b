"""This module does what a model asks of the kit itself: load tools, discover and call MCP tools."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, cast

from toolcrib.kit.catalogue import get_all_tools, metadata_of_tool
from toolcrib.kit.function_map import get_tool_for_function
from toolcrib.kit.guides import get_tool_guide
from toolcrib.kit.jit import JITLoader
from toolcrib.kit.jit_config import JITConfig
from toolcrib.kit.mcp_loader import MCPJITLoader, init_mcp_registry_from_loader
from toolcrib.kit.mcp_registry import MCPRegistry
from toolcrib.kit.mcp_tool import MCPExecutionContext
from toolcrib.kit.result import ToolResult, failed, succeeded

_RULE = "\n\n---\n\n"


async def initialize_tools(
    tool_names: str | list[str],
    thread_manager: Any,
    project_id: str | None = None,
    jit_config: JITConfig | None = None,
) -> ToolResult:
    """Load tools with what they depend on, and answer with their guides.

    `tool_names` may be a JSON array in a text, or one name. An unknown name fails the whole call
    and lists the known ones; of known ones those that could not be loaded are left out. The
    answer's `activated_tools` is what a caller keeps with its thread.
    """
    names = names_in(tool_names)
    if (refused := refusal_of(names)) is not None:
        return refused
    batch = await JITLoader.activate_multiple(names, thread_manager, project_id, jit_config)
    loaded = [name for name in batch.get_activated_tools() if name in names]
    problems = [one.to_user_message() for one in batch.failed]
    if not loaded:
        return failed("; ".join(problems))
    return guides_of(loaded, among=len(names))


async def discover_mcp_tools(
    filter: str | None,  # noqa: A002 - the name is Kortix's
    loader: MCPJITLoader | None,
    registry: MCPRegistry | None = None,
) -> ToolResult:
    """What the thread's MCP servers have. `registry` becomes the thread's own, filled anew."""
    if loader is None:
        return succeeded(await MCPRegistry().get_discovery_info(filter))
    await loader.build_tool_map()
    mine = init_mcp_registry_from_loader(loader, registry or _registry_like(loader))
    await mine.prewarm_schemas(loader.account_id)
    return succeeded(await mine.get_discovery_info(filter, account_id=loader.account_id))


async def execute_mcp_tool(
    tool_name: str,
    args: Mapping[str, Any] | str | None,
    loader: MCPJITLoader | None,
    registry: MCPRegistry | None = None,
) -> ToolResult:
    """Call a tool of the thread's own servers; another thread's tools are not there."""
    group = get_tool_for_function(tool_name)
    if group is not None:
        return failed(
            f"'{tool_name}' is a native function of {group}, not an MCP tool: call it directly."
        )
    arguments = arguments_in(args)
    if arguments is None:
        return failed("args must be a JSON object.")
    if loader is None or not await loader.is_tool_available(tool_name):
        return failed(f"MCP tool '{tool_name}' is not available in this thread")
    mine = registry or _registry_like(loader)
    if not mine.is_tool_available(tool_name):
        init_mcp_registry_from_loader(loader, mine)
    account = {"account_id": loader.account_id} if loader.account_id else None
    return await mine.execute_tool(tool_name, arguments, MCPExecutionContext(user_context=account))


def _registry_like(loader: MCPJITLoader) -> MCPRegistry:
    """A registry of this call alone: the process's own would show one thread another's tools."""
    return MCPRegistry(connector=loader.registry.connector, cache=loader.registry.cache)


def refusal_of(names: Sequence[str]) -> ToolResult | None:
    """The answer for unknown names, or for none, with those that are known; None: all are."""
    known = get_all_tools()
    unknown = [name for name in names if name not in known]
    if names and not unknown:
        return None
    what = f"Unknown tools: {', '.join(unknown)}." if unknown else "No tools were named."
    return failed(f"{what} Available tools: {', '.join(sorted(known)) or 'none'}.")


def guides_of(loaded: Sequence[str], *, among: int) -> ToolResult:
    """The answer once so many of `among` named tools are loaded."""
    return succeeded(
        {
            "status": "success",
            "message": f"Loaded {len(loaded)} of {among} tools: {', '.join(loaded)}",
            "guides": _RULE.join(map(guide_of, loaded)),
            "activated_tools": loaded,
            "_internal": True,
        }
    )


def names_in(given: str | list[str]) -> list[str]:
    """The names of a list, of its JSON text, or of a text with commas; each once."""
    if isinstance(given, str):
        try:
            read = json.loads(given)
        except (ValueError, RecursionError):
            read = given.split(",")
        given = cast("list[str]", read) if isinstance(read, list) else [str(read)]
    return list(dict.fromkeys(str(name).strip() for name in given if str(name).strip()))


def arguments_in(given: Mapping[str, Any] | str | None) -> Mapping[str, Any] | None:
    """The arguments of an object or of its JSON text; None for anything else."""
    if isinstance(given, str):
        try:
            given = cast("Mapping[str, Any] | None", json.loads(given or "{}"))
        except (ValueError, RecursionError):
            return None
    if given is None:
        return {}
    return given if isinstance(cast("object", given), Mapping) else None


def guide_of(tool_name: str) -> str:
    """A tool's guide, or a line where it has none."""
    guide = get_tool_guide(tool_name)
    if guide is not None:
        return guide
    said = metadata_of_tool(tool_name)
    return f"## {tool_name}\n\n{said.description if said else 'Loaded; its schema says the rest.'}"
