"""This module tells whether anybody watches a tool's call: callbacks, tracers, the console.

LangChain prepares every call for watchers, in a task and with ids of its own; where there are none
that is most of what a call costs.
"""

from __future__ import annotations

from langchain_core.callbacks import AsyncCallbackManager
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool
from langsmith.utils import tracing_is_enabled  # pyright: ignore[reportUnknownVariableType]


def watched(tool: BaseTool, config: RunnableConfig) -> bool:
    """Whether LangChain would tell anybody of a call with this config, a whole one."""
    if tracing_is_enabled():
        return True
    manager = AsyncCallbackManager.configure(
        config.get("callbacks"), tool.callbacks, verbose=tool.verbose
    )
    return bool(manager.handlers or manager.inheritable_handlers)
