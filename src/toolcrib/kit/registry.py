"""This module holds ToolRegistry: the tools that one agent run has, by function name."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any, cast

from toolcrib.kit.catalogue import class_of, groups_of
from toolcrib.kit.functions import Function, Functions
from toolcrib.kit.instances import instance_of
from toolcrib.kit.mcp_registry import MCPRegistry, get_mcp_registry
from toolcrib.kit.schema import SchemaType, ToolSchema
from toolcrib.kit.tool import Tool, schemas_of

_log = logging.getLogger(__name__)


class ToolRegistry:
    """Schemas and functions are built when they are first asked for, and kept until a change.

    `tools` maps a function name to `{"instance": Tool, "schema": ToolSchema}`.
    """

    def __init__(self, *, mcp_registry: MCPRegistry | None = None) -> None:
        """Without `mcp_registry` it is this process's own."""
        self.tools: dict[str, dict[str, Any]] = {}
        self._methods: dict[str, str] = {}
        self._mcp = mcp_registry
        self._schemas: tuple[int, list[dict[str, Any]]] | None = None
        self._functions: Functions | None = None
        self._groups: dict[str, list[str]] | None = None

    @property
    def mcp_registry(self) -> MCPRegistry:
        return self._mcp if self._mcp is not None else get_mcp_registry()

    def register_tool(
        self,
        tool_class: type[Tool],
        function_names: Sequence[str] | None = None,
        **kwargs: Any,
    ) -> None:
        """Register the methods of a class, or only those named.

        `kwargs` go to the constructor; without any, the class has one instance in this process.
        A name that is registered again is replaced.
        """
        instance = tool_class(**kwargs) if kwargs else instance_of(tool_class)
        wanted = None if function_names is None else set(function_names)
        known: set[str] = set()
        for method, schemas in schemas_of(tool_class).items():
            for schema in schemas:
                known |= {method, schema.name}
                if schema.schema_type is not SchemaType.OPENAPI:
                    continue
                if wanted is None or wanted & {method, schema.name}:
                    self.tools[schema.name] = {"instance": instance, "schema": schema}
                    self._methods[schema.name] = method
        for name in sorted((wanted or set()) - known):
            _log.warning("%s has no function %r; it is ignored", tool_class.__name__, name)
        self.invalidate_schema_cache()
        self.invalidate_function_cache()

    def get_tool(self, tool_name: str) -> dict[str, Any]:
        """`{"instance", "schema"}`; empty, with a warning, for a name that is not registered."""
        found = self.tools.get(tool_name)
        if found is None:
            _log.warning("the tool %r is not registered", tool_name)
        return found or {}

    def get_available_functions(self) -> Functions:
        """Function name to bound method; a group's name finds its function as well."""
        if self._functions is None:
            functions = {name: self._function(name) for name in self.tools}
            self._functions = Functions(functions, self._group)
        return self._functions

    def get_openapi_schemas(self) -> list[dict[str, Any]]:
        """The schemas of native tools, for a model. MCP tools are left out."""
        version = self.mcp_registry.version
        if self._schemas is None or self._schemas[0] != version:
            native = [
                _schema(tool) for name, tool in self.tools.items() if not self._is_mcp(name, tool)
            ]
            self._schemas = (version, native)
        return self._schemas[1].copy()

    def get_all_schemas(self) -> list[dict[str, Any]]:
        """The schemas of everything: registered here, and in the MCP registry."""
        mine = [_schema(tool) for tool in self.tools.values()]
        theirs = self.mcp_registry.get_schemas()
        return [*mine, *(schema for name, schema in theirs.items() if name not in self.tools)]

    def invalidate_schema_cache(self) -> None:
        self._schemas = None

    def invalidate_function_cache(self) -> None:
        self._functions = None
        self._groups = None

    def invalidate_mcp_cache(self) -> None:
        """Tell MCP tools from native ones again."""
        self.invalidate_schema_cache()

    def _function(self, name: str) -> Function:
        method = self._methods.get(name, name)
        return cast("Function", getattr(self.tools[name]["instance"], method))

    def _is_mcp(self, name: str, tool: Mapping[str, Any]) -> bool:
        return "MCP" in type(tool["instance"]).__name__ or self.mcp_registry.is_tool_available(name)

    def _group(self, group: str) -> Mapping[str, Function]:
        """The registered functions of a group; nothing for a name that is no group's."""
        if group not in self._members():
            kind = class_of(group)
            if kind is not None:
                self.register_tool(kind)
        return {name: self._function(name) for name in self._members().get(group, ())}

    def _members(self) -> Mapping[str, list[str]]:
        """Function names by group; a method's own name counts, where its schema has another."""
        if self._groups is None:
            self._groups = {}
            for name, tool in self.tools.items():
                method = self._methods.get(name, name)
                for group in (*groups_of(cast("Tool", tool["instance"]).__class__), method):
                    self._groups.setdefault(group, []).append(name)
        return self._groups


def _schema(tool: Mapping[str, Any]) -> dict[str, Any]:
    return cast("ToolSchema", tool["schema"]).schema
