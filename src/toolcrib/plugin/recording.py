"""This module records what one plugin registers, so that all of it counts or none.

While a plugin loads, its registrations gather in a Recording, whether they come through the
function it was given or through `@capability` at import. The loader commits the recording when
the plugin is whole and drops it otherwise; what a dropped plugin still registers is refused.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from toolcrib.errors import InvalidOptions
from toolcrib.plugin.changes import Change, Origin, Predicate
from toolcrib.plugin.checking import codes_of, text_of, tools_of

if TYPE_CHECKING:
    from toolcrib.plugin.registry import Registry

_log = logging.getLogger(__name__)


class Key(NamedTuple):
    """What makes two entry points the same plugin."""

    distribution: str
    value: str


current_recording: ContextVar[Recording | None] = ContextVar("toolcrib_recording", default=None)
"""The recording of the plugin that loads in this context."""

_imported: dict[Key, tuple[Change, ...]] = {}
"""What each plugin's modules registered when they were imported. Python imports a module once,
so a second registry in the same process gets these again."""


class Recording:
    """The registrations of one plugin on their way into one registry."""

    def __init__(self, registry: Registry, origin: Origin) -> None:
        self.registry = registry
        self.origin = origin
        self.key = Key(origin.distribution, origin.value)
        self.state: Literal["open", "committed", "dropped"] = "open"
        self._given: list[Change] = []
        self._found: list[Change] = []
        self._lock = threading.Lock()

    @property
    def has_changes(self) -> bool:
        """Whether anything would be committed now."""
        return bool(self._given or self._found or _imported.get(self.key))

    def register_tools(
        self, code: str, tools: Any, *, name: str = "", description: str = ""
    ) -> None:
        """The function that a plugin's `register` receives."""
        for change in tool_changes(code, tools, name=name, description=description):
            self.add(change, given=True)

    def register_condition(self, code: str, predicate: Predicate) -> None:
        for change in condition_changes(code, predicate):
            self.add(change, given=True)

    def add(self, change: Change, *, given: bool) -> None:
        """Keep a change for the commit; later ones of a committed plugin count at once.

        `given`: it came through the function that the plugin was handed, not through a name it
        imported from toolcrib.
        """
        change = replace(change, origin=self.origin)
        with self._lock:
            if self.state == "open":
                (self._given if given else self._found).append(change)
                return
        if self.state == "committed":
            self.registry.apply([change], key=self.key)
            return
        _log.warning(
            "refused: plugin %r of %s registers %r after it failed or timed out",
            self.origin.entry_point,
            self.origin,
            change.code,
        )

    @contextmanager
    def active(self) -> Generator[None]:
        """Inside, registrations of this context land here."""
        token = current_recording.set(self)
        try:
            yield
        finally:
            current_recording.reset(token)

    def commit(self) -> tuple[str, ...]:
        """Put everything into the registry, in place of an earlier load; returns the codes."""
        with self._lock:
            afresh = {change.code for change in self._found}
            again = [c for c in _imported.get(self.key, ()) if c.code not in afresh]
            changes = [*again, *self._found, *self._given]
            _imported[self.key] = (*again, *self._found)
            self.registry.apply(changes, key=self.key, replacing=True)
            self.state = "committed"
        return tuple(dict.fromkeys(change.code for change in changes))

    def drop(self) -> None:
        """Forget everything; whatever comes later is refused."""
        with self._lock:
            self.state = "dropped"
            self._given.clear()
            self._found.clear()


def tool_changes(code: object, tools: object, *, name: str, description: str) -> list[Change]:
    """One change for each code. Raises InvalidOptions for what an author must mend."""
    codes = codes_of(code)
    objects = tools_of(tools)
    name, description = text_of(name, "name"), text_of(description, "description")
    return [Change(code=one, tools=objects, name=name, description=description) for one in codes]


def condition_changes(code: object, predicate: Callable[[Any], Any]) -> list[Change]:
    if not callable(predicate):
        raise InvalidOptions(
            f"The condition of {code!r} is a function, not {type(predicate).__name__}.",
            where="predicate",
        )
    return [Change(code=one, predicate=predicate) for one in codes_of(code)]
