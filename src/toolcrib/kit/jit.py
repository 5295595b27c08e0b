"""This module activates native tools just in time: found, constructed, registered."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any, cast

from toolcrib.kit.activation import (
    ActivationError,
    ActivationErrorType,
    ActivationResult,
    ActivationSuccess,
    BatchActivationResult,
)
from toolcrib.kit.catalogue import class_of, get_all_tools, get_tool_info, metadata_of_tool
from toolcrib.kit.dependencies import DependencyResolver
from toolcrib.kit.detector import KNOWN, ParameterDetector
from toolcrib.kit.groups import CORE_TOOLS
from toolcrib.kit.jit_config import JITConfig, blocked
from toolcrib.kit.mcp_loader import MCPJITLoader
from toolcrib.kit.registry import ToolRegistry
from toolcrib.kit.tool import names_of


class JITLoader:
    """Static methods. `thread_manager` is a run: a ToolRegistry, or an object whose
    `tool_registry` is one and whose `thread_id`, `account_id` and the like constructors may take.
    """

    @staticmethod
    async def activate_tool(
        tool_name: str,
        thread_manager: Any,
        project_id: str | None = None,
        jit_config: JITConfig | None = None,
    ) -> ActivationResult:
        """Activating a tool again is a success that does nothing."""
        config = jit_config or JITConfig()
        began = time.perf_counter()
        if get_tool_info(tool_name) is None:
            return _error("TOOL_NOT_FOUND", tool_name, f"Tool '{tool_name}' not found")
        if not config.is_tool_allowed(tool_name):
            return _error("BLOCKED_BY_CONFIG", tool_name, blocked(tool_name))
        kind = class_of(tool_name)
        if kind is None:
            return _error("IMPORT_ERROR", tool_name, f"Tool '{tool_name}' is not installed")
        methods = config.enabled_methods(tool_name)
        registry = _registry(thread_manager)
        if not _registered(registry, kind):
            error = _register(
                registry, tool_name, kind, methods, _values(thread_manager, project_id)
            )
            if error is not None:
                return error
        taken = (time.perf_counter() - began) * 1000
        count = len(names_of(kind)) if methods is None else len(methods)
        return ActivationSuccess(tool_name, taken, function_count=count)

    @staticmethod
    async def activate_multiple(
        tool_names: Iterable[str],
        thread_manager: Any,
        project_id: str | None = None,
        jit_config: JITConfig | None = None,
    ) -> BatchActivationResult:
        """With what they depend on, one after the other."""
        config = jit_config or JITConfig()
        began = time.perf_counter()

        def allowed(name: str) -> bool:
            return config.is_tool_allowed(name) and class_of(name) is not None

        order = DependencyResolver().resolve(tool_names, allowed=allowed)
        results = [
            await JITLoader.activate_tool(name, thread_manager, project_id, config)
            for name in order.tools
        ]
        return _batch(results, began, order.skipped)

    @staticmethod
    async def activate_mcp_tool(tool_name: str, mcp_loader: MCPJITLoader) -> ActivationResult:
        return await mcp_loader.activate_tool(tool_name)

    @staticmethod
    async def activate_multiple_with_mcp(
        tool_names: Iterable[str],
        thread_manager: Any,
        mcp_loader: MCPJITLoader,
        project_id: str | None = None,
        jit_config: JITConfig | None = None,
    ) -> BatchActivationResult:
        """Names that the loader knows are MCP tools, the others native ones."""
        began = time.perf_counter()
        names = list(tool_names)
        remote = [name for name in names if mcp_loader.is_tool_available_sync(name)]
        local = [name for name in names if name not in remote]
        native = await JITLoader.activate_multiple(local, thread_manager, project_id, jit_config)
        mcp = await mcp_loader.activate_multiple(remote)
        results = [*native.successful, *native.failed, *mcp.successful, *mcp.failed]
        return _batch(results, began, native.skipped)

    @staticmethod
    def get_core_tools() -> list[str]:
        """The installed tools that are always enabled: the core category and core classes."""
        core = {name for name, _, _ in CORE_TOOLS}
        found = {name: metadata_of_tool(name) for name in get_all_tools()}
        return [name for name, said in found.items() if name in core or (said and said.is_core)]

    @staticmethod
    def get_activation_stats(thread_manager: Any) -> dict[str, Any]:
        """`{total_tools, loaded_tools, load_percentage, loaded}` of the installed groups."""
        registry = _registry(thread_manager)
        installed = get_all_tools()
        loaded = [name for name, kind in installed.items() if _registered(registry, kind)]
        share = 100.0 * len(loaded) / len(installed) if installed else 0.0
        return {
            "total_tools": len(installed),
            "loaded_tools": len(loaded),
            "load_percentage": share,
            "loaded": loaded,
        }


def _register(
    registry: ToolRegistry,
    tool_name: str,
    kind: type,
    methods: list[str] | None,
    values: dict[str, Any],
) -> ActivationError | None:
    detector = ParameterDetector()
    given = detector.fill(kind, values)
    missing = detector.missing(kind, given)
    if missing:
        text = f"The constructor needs {', '.join(missing)}, which this run does not have"
        return _error("PARAMETER_ERROR", tool_name, text)
    try:
        registry.register_tool(kind, methods, **given)
    except Exception as error:  # noqa: BLE001 - a foreign constructor may raise anything
        return _error("INIT_FAILED", tool_name, f"{type(error).__name__}: {error}")
    return None


def _registry(thread_manager: Any) -> ToolRegistry:
    if isinstance(thread_manager, ToolRegistry):
        return thread_manager
    return cast("ToolRegistry", thread_manager.tool_registry)


def _registered(registry: ToolRegistry, kind: type) -> bool:
    return any(type(tool["instance"]) is kind for tool in registry.tools.values())


def _values(thread_manager: Any, project_id: str | None) -> dict[str, Any]:
    if isinstance(thread_manager, ToolRegistry):
        return {"project_id": project_id}
    found = {name: getattr(thread_manager, name, None) for name in KNOWN}
    given = project_id if project_id is not None else found["project_id"]
    return {**found, "thread_manager": thread_manager, "project_id": given}


def _error(kind: str, tool_name: str, message: str) -> ActivationError:
    return ActivationError(ActivationErrorType[kind], message, tool_name)


def _batch(
    results: Iterable[ActivationResult], began: float, skipped: Iterable[str]
) -> BatchActivationResult:
    known = list(results)
    return BatchActivationResult(
        successful=[one for one in known if isinstance(one, ActivationSuccess)],
        failed=[one for one in known if isinstance(one, ActivationError)],
        total_time_ms=(time.perf_counter() - began) * 1000,
        skipped=list(skipped),
    )
