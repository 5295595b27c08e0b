"""This module says how the loading of one plugin went, in words for an operator."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from toolcrib.plugin.checking import storable

_MAX_MESSAGE = 300
_MAX_CAUSES = 3


@dataclass(frozen=True, kw_only=True, slots=True)
class PluginReport:
    """One entry point. `value` is `module:attribute`; `error` is one line.

    A loaded plugin may have an error too: that what is installed is not what is running.
    """

    name: str
    distribution: str
    version: str
    value: str
    group: str
    status: Literal["loaded", "failed"]
    error: str | None = None
    codes: tuple[str, ...] = ()
    duration_ms: float = 0.0

    def as_json(self) -> dict[str, Any]:
        return asdict(self) | {"codes": list(self.codes)}


def one_line(error: BaseException) -> str:
    """The exception and what caused it, in one line of bounded length."""
    lines: list[str] = []
    current: BaseException | None = error
    while current is not None and len(lines) < _MAX_CAUSES:
        lines.append(_words(current))
        following = current.__cause__
        if following is None and not current.__suppress_context__:
            following = current.__context__
        current = following
    return " caused by ".join(lines)


def _words(error: BaseException) -> str:
    try:
        text = storable(" ".join(str(error).split()))
    except Exception:  # noqa: BLE001 - a foreign __str__ may raise anything
        text = ""
    if len(text) > _MAX_MESSAGE:
        text = text[: _MAX_MESSAGE - 1] + "…"
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
