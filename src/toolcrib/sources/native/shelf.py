"""This module offers what a registry holds now, code by code, without waiting for anything."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from toolcrib.plugin.changes import Bundle as Registered
from toolcrib.plugin.changes import Entry, Origin, Snapshot
from toolcrib.plugin.code_digest import code_digest, is_editable
from toolcrib.plugin.registry import Registry
from toolcrib.sources.native.adapting import Adapters
from toolcrib.tools.presentation import presentation_of
from toolcrib.tools.provenance import Provenance
from toolcrib.tools.source import Bundle, Offer, Skip
from toolcrib.tools.turns import Turns


class NativeShelf:
    """The tools of a registry. A code is adapted when it is first asked for."""

    def __init__(
        self,
        registry: Registry,
        *,
        adapters: Adapters | None = None,
        allow_langsmith: bool = False,
    ) -> None:
        self._registry = registry
        self._adapters = adapters or Adapters(allow_langsmith=allow_langsmith)
        self._seen: Snapshot | None = None
        self._bundles: dict[str, Bundle] = {}
        self._origins: set[Origin] = set()  # those whose code was looked at

    def bundle(self, code: str) -> Bundle | None:
        """The tools of a code and what could not be adapted; None for an unknown code."""
        snapshot = self._current()
        made = self._bundles.get(code)
        if made is None and code in snapshot.bundles:
            made = bundle_of(snapshot.bundles[code], self._adapters)
            self._bundles[code] = made
        return made

    def _current(self) -> Snapshot:
        snapshot = self._registry.snapshot()
        if snapshot is not self._seen:
            self._seen = snapshot
            self._bundles = {}
        return snapshot

    async def warm(self) -> None:
        """Adapt everything that is registered, so that no caller waits for it."""
        await self.prepare(self.codes())

    async def prepare(self, codes: Iterable[str]) -> None:
        """Adapt the tools of these codes; whoever else is waiting comes in between.

        A function takes a millisecond, ten thousand of them would hold everybody up.
        """
        turns = Turns()
        registered = self._current().bundles
        made = self._bundles
        for code in codes:
            if code not in registered or code in made:
                continue
            for entry in registered[code].entries:
                if entry.origin is not None and entry.origin not in self._origins:
                    await asyncio.to_thread(_provenance, entry.origin)
                    self._origins.add(entry.origin)
                self._adapters.adapt_all(entry.obj, code, entry.origin)
                await turns.next()

    def codes(self) -> Sequence[str]:
        """Every registered code, in order of registration."""
        return tuple(self._registry.snapshot().bundles)

    def conditions(self) -> Mapping[str, Callable[[Any], Any]]:
        """The predicates that plugins added, by code."""
        held = self._registry.snapshot().conditions
        return {code: condition.predicate for code, condition in held.items()}


def bundle_of(registered: Registered, adapters: Adapters) -> Bundle:
    """Adapt a registered bundle: by weight, tools of one weight as they were registered."""
    offers: list[Offer] = []
    skipped: list[Skip] = []
    for entry in registered.entries:
        made = adapters.adapt_all(entry.obj, registered.code, entry.origin)
        if isinstance(made, Skip):
            skipped.append(made)
            continue
        offers += [
            Offer(
                spec=tool.spec,
                run=tool.run,
                origin=_origin(entry),
                original=entry.obj,
                provenance=entry.origin and _provenance(entry.origin),
            )
            for tool in made
        ]
    return Bundle(
        code=registered.code,
        kind="native",
        name=registered.name,
        description=registered.description,
        offers=tuple(sorted(offers, key=lambda offer: presentation_of(offer.spec).weight)),
        skipped=tuple(skipped),
    )


def _origin(entry: Entry) -> str:
    return str(entry.origin) if entry.origin else "this process"


@lru_cache(maxsize=1024)
def _provenance(origin: Origin) -> Provenance:
    """The distribution, and the code that it brings. Toolcrib's own code is not asked about
    itself: its version says enough."""
    facts: dict[str, Any] = {"distribution": origin.distribution, "version": origin.version}
    if is_editable(origin.distribution):
        facts["editable"] = True
    if origin.distribution == "toolcrib":
        return Provenance(facts=facts)
    return Provenance(facts={**facts, "code": code_digest(origin)})
