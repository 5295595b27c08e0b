"""This module lets code written for PrimeThink import what it used to: `src.virtual_assistant_lc` …

A plugin that follows PrimeThink's guide imports none of it and needs no installing.
"""

from __future__ import annotations

from toolcrib.compat.finder import Aliases, Names

_REGISTRATION = "toolcrib.plugin.registration"
_REGISTRY = {
    "capability": _REGISTRATION,
    "discover_plugins": "toolcrib.plugin.discovery",
    "get_capability_meta": _REGISTRATION,
    "register_tools": _REGISTRATION,
    "resolve_tools": _REGISTRATION,
}
_SURFACE = "toolcrib.surfaces.langchain"
_MODULES: dict[str, Names] = {
    "src.virtual_assistant_lc.tool_registry": _REGISTRY,
    "src.virtual_assistant_lc.tool_registrations": {"register_tools": _REGISTRATION},
    "src.utils.capabilities_utils": {
        "PTDocumentService": "toolcrib.plugin.documents:DocumentService",
        "PTPluginContext": "toolcrib.plugin.host:PluginContext",
        "attach_mcp": _SURFACE,
        "get_tools_from_capabilities": _SURFACE,
    },
}
_aliases = Aliases(_MODULES)


def install() -> None:
    """From now on these imports work, as far as no installed package provides them itself."""
    _aliases.install()


def uninstall() -> None:
    """Take the modules away again."""
    _aliases.uninstall()
