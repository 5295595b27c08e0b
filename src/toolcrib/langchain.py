"""This module is what LangChain code imports: `from toolcrib.langchain import attach_mcp`."""

from typing import TYPE_CHECKING

from toolcrib.surfaces import langchain as _surface

if TYPE_CHECKING:
    from toolcrib.surfaces.langchain import (
        attach_mcp,
        get_tools_from_capabilities,
        repair_invalid_tool_calls,
    )

__all__ = ["attach_mcp", "get_tools_from_capabilities", "repair_invalid_tool_calls"]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(_surface, name)
