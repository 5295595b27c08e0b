"""Built-in tools: what a fresh installation can do, entering by the door that plugins use.

In comes the function that a plugin registers with, and the context that it may ask; out go classes
of the kit, registered under codes. Each class is announced by the entry point `toolcrib.kit` as
well, which is how the catalogue knows it. Nothing here knows a stage: chats, tasks and agents are
reached through the context.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from toolcrib.plugin.host import PluginContext


def register(registry_fn: Any, context: PluginContext | None = None) -> None:
    """What the entry point names: every built-in code with its tools."""
    from toolcrib.builtin.codes import CODES, instances  # noqa: PLC0415 - imports every tool

    made = instances(context)
    for code in CODES:
        tools = [made[name] for name in code.tools]
        registry_fn(code.code, tools, name=code.name, description=code.description)
