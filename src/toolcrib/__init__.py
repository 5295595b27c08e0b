"""This module is the front door of Toolcrib: every name loads when it is first asked for.

So `import toolcrib` costs next to nothing, and a plugin that only registers tools stays light.
(No `from __future__ import annotations` here: it would take the name `annotations`.)
"""

TYPE_CHECKING = False  # what typing.TYPE_CHECKING is, without loading typing
if TYPE_CHECKING:
    from toolcrib.errors import UnresolvedPlaceholderError
    from toolcrib.platform import open_platform
    from toolcrib.plugin.discovery import discover_plugins
    from toolcrib.plugin.registration import (
        annotations,
        capability,
        condition,
        get_capability_meta,
        register_tools,
        resolve_tools,
    )
    from toolcrib.secrets.placeholders import PLACEHOLDER_RE
    from toolcrib.settings import Settings

    __version__: str

__all__ = [
    "PLACEHOLDER_RE",
    "Settings",
    "UnresolvedPlaceholderError",
    "__version__",
    "annotations",
    "capability",
    "condition",
    "discover_plugins",
    "get_capability_meta",
    "open_platform",
    "register_tools",
    "resolve_tools",
]

_HOMES = {
    "PLACEHOLDER_RE": "toolcrib.secrets.placeholders",
    "Settings": "toolcrib.settings",
    "UnresolvedPlaceholderError": "toolcrib.errors",
    "annotations": "toolcrib.plugin.registration",
    "capability": "toolcrib.plugin.registration",
    "condition": "toolcrib.plugin.registration",
    "discover_plugins": "toolcrib.plugin.discovery",
    "get_capability_meta": "toolcrib.plugin.registration",
    "open_platform": "toolcrib.platform",
    "register_tools": "toolcrib.plugin.registration",
    "resolve_tools": "toolcrib.plugin.registration",
}


def __getattr__(name: str) -> object:
    """Load a public name from the module that it lives in, and keep it."""
    if name == "__version__":
        from importlib.metadata import version  # noqa: PLC0415 - slow, and rarely asked for

        value: object = version("toolcrib")
    elif name in _HOMES:
        from importlib import import_module  # noqa: PLC0415 - as lazy as the rest

        value = getattr(import_module(_HOMES[name]), name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
