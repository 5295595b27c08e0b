"""This module keeps what was registered: a code names a bundle of objects, kept as they are."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, TypeVar

from toolcrib.plugin.changes import (
    Bundle,
    Change,
    Condition,
    Entry,
    Predicate,
    Snapshot,
    is_named,
    tool_names,
)
from toolcrib.plugin.checking import codes_of, loose_codes
from toolcrib.plugin.recording import (
    Key,
    condition_changes,
    current_recording,
    tool_changes,
)

_log = logging.getLogger(__name__)
T = TypeVar("T")


class Registry:
    """Registered tools and runtime conditions. Safe to use from several threads."""

    def __init__(self) -> None:
        self._changes: list[tuple[Key | None, Change]] = []
        self._version = 0
        self._snapshot: Snapshot | None = None
        self._lock = threading.Lock()

    @property
    def version(self) -> int:
        """Rises with every change."""
        return self._version

    def register_tools(
        self, code: str, tools: Any, *, name: str = "", description: str = ""
    ) -> None:
        """Register objects under a code (or a comma list of codes), whatever kind they are.

        Registrations accumulate; a later one without `name` or `description` keeps the earlier.
        Raises InvalidOptions for a code that cannot be one.
        """
        self._note(tool_changes(code, tools, name=name, description=description))

    def capability(self, *codes: str) -> Callable[[T], T]:
        """A decorator that registers a tool, or a list of tools, and returns the same object."""
        wanted = codes_of(*codes)

        def register(tools: T) -> T:
            for code in wanted:
                self.register_tools(code, tools)
            return tools

        return register

    def register_condition(self, code: str, predicate: Predicate) -> None:
        """Let `predicate` decide at run time about a code's tools; the first of a code stays."""
        self._note(condition_changes(code, predicate))

    def condition(self, code: str) -> Callable[[T], T]:
        """The same as a decorator."""

        def register(predicate: T) -> T:
            self.register_condition(code, predicate)  # type: ignore[arg-type]
            return predicate

        return register

    def resolve_tools(self, active_codes: str | Iterable[str]) -> list[Any]:
        """The registered objects of these codes, each tool name once, the first one winning.

        Order: the codes as given, then registration. Unknown codes are logged and ignored.
        """
        bundles = self.snapshot().bundles
        found: dict[tuple[str | int, ...], Any] = {}
        for code in loose_codes(active_codes):
            if code not in bundles:
                _log.warning("no tools are registered under the code %r", code)
                continue
            for entry in bundles[code].entries:
                names = tool_names(entry.obj)
                known_by = names if is_named(names[0]) else (id(entry.obj),)
                found.setdefault(known_by, entry.obj)
        return list(found.values())

    def get_capability_meta(self, code: str) -> dict[str, Any] | None:
        """`{code, name, description, tool_names}`, or None for a code nobody registered."""
        bundle = self.snapshot().bundles.get(code)
        if bundle is None:
            return None
        return {
            "code": bundle.code,
            "name": bundle.name,
            "description": bundle.description,
            "tool_names": bundle.tool_names,
        }

    def snapshot(self) -> Snapshot:
        """Everything as it is now, immutable; the same object until something changes."""
        known = self._snapshot
        if known is not None and known.version == self._version:
            return known
        with self._lock:
            self._snapshot = _snapshot(self._version, [change for _, change in self._changes])
            return self._snapshot

    def apply(
        self, changes: Sequence[Change], *, key: Key | None = None, replacing: bool = False
    ) -> None:
        """Take changes in; `replacing` takes out first what the same plugin registered before."""
        with self._lock:
            if replacing:
                self._changes = [pair for pair in self._changes if pair[0] != key]
            self._changes += [(key, change) for change in changes]
            self._version += 1

    def _note(self, changes: Sequence[Change]) -> None:
        recording = current_recording.get()
        if recording is None or recording.registry is not self:
            self.apply(changes)
            return
        for change in changes:
            recording.add(change, given=False)


def _snapshot(version: int, changes: Iterable[Change]) -> Snapshot:
    bundles: dict[str, Bundle] = {}
    entries: dict[str, dict[int, Entry]] = {}
    conditions: dict[str, Condition] = {}
    for change in changes:
        if change.predicate is not None:
            _settle(conditions, change, change.predicate)
            continue
        known = bundles.get(change.code) or Bundle(code=change.code)
        bundles[change.code] = replace(
            known,
            name=change.name or known.name,
            description=change.description or known.description,
        )
        held = entries.setdefault(change.code, {})
        for obj in change.tools:
            held.setdefault(id(obj), Entry(obj=obj, origin=change.origin))
    whole = {c: replace(b, entries=tuple(entries[c].values())) for c, b in bundles.items()}
    return Snapshot(
        version=version,
        bundles=MappingProxyType(whole),
        conditions=MappingProxyType(conditions),
    )


def _settle(conditions: dict[str, Condition], change: Change, predicate: Predicate) -> None:
    made = Condition(code=change.code, predicate=predicate, origin=change.origin)
    held = conditions.setdefault(change.code, made)
    if held is not made and held.predicate is not made.predicate:
        _log.warning(
            "the condition of %r by %s stays; the one by %s is left out",
            change.code,
            held.origin or "this process",
            change.origin or "this process",
        )
