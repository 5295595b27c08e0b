"""This module reads which tools and methods an agent's configuration leaves enabled.

The form is Kortix's: `{tool: true | false | {enabled, methods: {method: bool | {enabled}}}}`.
Core tools and methods cannot be switched off.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from toolcrib.kit.catalogue import class_of, metadata_of_tool
from toolcrib.kit.tool import method_metadata_of, schemas_of

Config = Mapping[str, Any]


def get_enabled_methods_for_tool(tool_name: str, config: Config) -> list[str] | None:
    """The methods that stay: None means all, an empty list that the tool is switched off.

    Methods of which the configuration says nothing stay enabled.
    """
    said = config.get(tool_name, True)
    metadata = metadata_of_tool(tool_name)
    if metadata is not None and metadata.is_core:
        return None
    if not _enabled(said):
        return []
    chosen = _methods(said)
    if not chosen:
        return None
    kind = class_of(tool_name)
    if kind is None:
        return [name for name, one in chosen.items() if _enabled(one)]
    return enabled_methods(kind, chosen)


def enabled_methods(tool: type, chosen: Config) -> list[str]:
    """The methods of a class that `{method: bool | {enabled}}` leaves."""
    said = method_metadata_of(tool)
    core = {name for name, one in said.items() if one.is_core}
    return [name for name in schemas_of(tool) if name in core or _enabled(chosen.get(name, True))]


def validate_tool_config(config: Config) -> dict[str, Any]:
    """The same in one form: `{tool: {enabled, methods: {method: {enabled}}}}`."""
    return {name: _normal(said) for name, said in config.items()}


def _normal(said: object) -> dict[str, Any]:
    methods = {name: {"enabled": _enabled(one)} for name, one in _methods(said).items()}
    return {"enabled": _enabled(said), "methods": methods}


def _methods(said: object) -> Config:
    chosen = cast("Config", said).get("methods") if isinstance(said, Mapping) else None
    return cast("Config", chosen) if isinstance(chosen, Mapping) else {}


def _enabled(said: object) -> bool:
    if isinstance(said, Mapping):
        return bool(cast("Config", said).get("enabled", True))
    return said is None or bool(said)
