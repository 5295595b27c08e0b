"""Testing: what plugin authors and our own tests need, shipped with the library.

Fakes that go in through the same constructors as the real parts, a real HTTP upstream that
records the exact bytes of every request, a model that follows a script, and a workbench that
sets up a whole Toolcrib around one plugin.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from toolcrib.testing.bench import Workbench, workbench
    from toolcrib.testing.models import ModelRequest, ScriptedModel, ToolCall
    from toolcrib.testing.upstream import RecordingUpstream

__all__ = [
    "ModelRequest",
    "RecordingUpstream",
    "ScriptedModel",
    "ToolCall",
    "Workbench",
    "workbench",
]
_HOMES = {
    "ModelRequest": "models",
    "RecordingUpstream": "upstream",
    "ScriptedModel": "models",
    "ToolCall": "models",
    "Workbench": "bench",
    "workbench": "bench",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value
