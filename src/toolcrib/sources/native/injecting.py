"""This module fills in what a LangChain tool gets from the call and not from the model."""

from __future__ import annotations

from typing import Any

from langchain_core.runnables.config import (
    RunnableConfig,
    ensure_config,
    var_child_runnable_config,
)

from toolcrib.sources.native.configs import configurable_of
from toolcrib.sources.native.parameters import injected_values
from toolcrib.sources.native.reading import Reading
from toolcrib.tools.call import Call


def values_of(reading: Reading, call: Call, config: RunnableConfig) -> dict[str, Any]:
    """The model's arguments without what it must not fill in, with what the call injects.

    Raises CannotCall for an injected argument that is not there.
    """
    if not reading.hidden:
        return dict(call.arguments)
    values = {k: v for k, v in call.arguments.items() if k not in reading.hidden}
    if reading.by_name:
        values |= injected_values(reading.by_name, config.get("configurable") or {})
    values |= dict.fromkeys(reading.needed_configs, config)
    return values | dict.fromkeys(reading.call_ids, call.call_id)


def config_of(call: Call) -> RunnableConfig:
    """The config that a tool gets: who calls, from where."""
    mine: RunnableConfig = {"configurable": configurable_of(call)}
    if var_child_runnable_config.get() is not None:  # inside a graph: its tags and callbacks too
        return ensure_config(mine)
    return {"tags": [], "metadata": {}, "callbacks": None, "recursion_limit": 25, **mine}
