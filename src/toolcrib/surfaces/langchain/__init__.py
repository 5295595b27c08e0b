"""LangChain: tools of a Toolset for agents that other people build.

In come capabilities and a RunnableConfig; out come LangChain tools whose calls come back through
invocation, and the MCP servers that a model's vendor connects to.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from toolcrib.surfaces.langchain.attaching import attach_mcp
    from toolcrib.surfaces.langchain.repairing import repair_invalid_tool_calls
    from toolcrib.surfaces.langchain.tools import get_tools_from_capabilities

__all__ = ["attach_mcp", "get_tools_from_capabilities", "repair_invalid_tool_calls"]
_HOMES = {
    "attach_mcp": "attaching",
    "get_tools_from_capabilities": "tools",
    "repair_invalid_tool_calls": "repairing",  # needs langchain, the rest langchain-core alone
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
