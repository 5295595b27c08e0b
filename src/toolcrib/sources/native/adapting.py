"""This module makes native tools of registered objects: a list of adapters, the first that fits.

Most objects are one tool; a kit class brings one for each of its methods.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from toolcrib.plugin.changes import Origin, tool_name
from toolcrib.sources.native.failures import words_of
from toolcrib.sources.native.functions import adapt_function
from toolcrib.sources.native.kit import adapt_kit
from toolcrib.sources.native.threads import Threads
from toolcrib.sources.native.tool import Body, NativeTool, NotATool
from toolcrib.sources.native.tracing import Tracing
from toolcrib.tools.source import Skip, ref
from toolcrib.tools.spec import ToolSpec

Made = tuple[ToolSpec, Body]
Adapter = Callable[[Any], Made | list[Made] | None]
"""Spec and body of an object of its kind, a list of them if it brings several tools, None for
another kind. Raises NotATool."""


class Adapters:
    """Adapts each object once, whatever it is registered under. Safe in several threads."""

    def __init__(self, *, allow_langsmith: bool = False, more: Sequence[Adapter] = ()) -> None:
        """`more` are tried after the built-in ones, in order."""
        self._tracing = Tracing(allowed=allow_langsmith)
        threads = Threads()
        self._adapters: tuple[Adapter, ...] = (
            lambda obj: _langchain(obj, threads, traced=allow_langsmith),
            lambda obj: adapt_function(obj, threads),
            lambda obj: adapt_kit(obj, threads),
            *more,
        )
        # Keyed by identity: tools are unhashable. The object is kept, so that its id stays its own.
        self._known: dict[int, tuple[Any, tuple[NativeTool, ...] | NotATool]] = {}

    def adapt(self, obj: Any, code: str, origin: Origin | None = None) -> NativeTool | Skip:
        """The tool of an object that is one, or why there is none; of several the first."""
        made = self.adapt_all(obj, code, origin)
        return made if isinstance(made, Skip) else made[0]

    def adapt_all(
        self, obj: Any, code: str, origin: Origin | None = None
    ) -> tuple[NativeTool, ...] | Skip:
        """The tools of an object, or why there are none; `origin` is named in the reason."""
        known = self._known.get(id(obj))
        if known is None:
            known = (obj, self._adapted(obj))
            self._known[id(obj)] = known
        made = known[1]
        if not isinstance(made, NotATool):
            return made
        who = str(origin) if origin else "code of this process"
        return Skip(
            ref=ref("native", code, tool_name(obj)),
            reason=f"not a tool: {made} (registered by {who})",
            fix="Register LangChain tools, functions with annotated parameters, or kit classes.",
        )

    def _adapted(self, obj: Any) -> tuple[NativeTool, ...] | NotATool:
        try:
            for adapter in self._adapters:
                found = adapter(obj)
                if found is not None:
                    several = found if isinstance(found, list) else [found]
                    return tuple(NativeTool(spec, body, self._tracing) for spec, body in several)
        except NotATool as reason:
            return reason
        except Exception as error:  # noqa: BLE001 - a foreign object may raise anything
            return NotATool(f"it cannot be read: {words_of(error)}")
        return NotATool(f"it is {_article(type(obj).__name__)}")


def _langchain(obj: Any, threads: Threads, *, traced: bool) -> tuple[ToolSpec, Body] | None:
    if not any(
        kind.__name__ == "BaseTool" and kind.__module__ == "langchain_core.tools.base"
        for kind in type(obj).__mro__
    ):
        return None
    from toolcrib.sources.native.langchain import adapt_tool  # noqa: PLC0415 - imports LangChain

    return adapt_tool(obj, threads, traced=traced)


def _article(noun: str) -> str:
    return f"{'an' if noun[:1].lower() in 'aeiou' else 'a'} {noun}"


_default: Adapters | None = None


def adapt(obj: Any, code: str, origin: Origin | None = None) -> NativeTool | Skip:
    """Adapt with the process's own adapters."""
    global _default  # noqa: PLW0603 - made when it is first needed
    if _default is None:
        _default = Adapters()
    return _default.adapt(obj, code, origin)
