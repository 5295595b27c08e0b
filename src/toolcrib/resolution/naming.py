"""This module gives the tools of one agent their names and says which tool lost a clash.

Python and API tools keep their names: the first by code order wins (PrimeThink's rule). Tools of
the other kinds keep theirs where nobody else has it and are `<code>__<name>` otherwise.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from functools import lru_cache

from toolcrib.errors import InvalidToolSchema
from toolcrib.resolution.toolset import Absence, ResolvedTool
from toolcrib.tools.schema import ArgumentChecker
from toolcrib.tools.source import Bundle, Offer, ref
from toolcrib.tools.spec import ToolSpec

MAX_NAME = 64
_FIRST_WINS = frozenset({"native", "api"})


class Names:
    """Collects the tools of one agent under names that are unique."""

    def __init__(self) -> None:
        self.tools: dict[str, ResolvedTool] = {}
        self.absences: list[Absence] = []

    def add(self, bundle: Bundle, *, capability_id: int | None) -> None:
        for skip in bundle.skipped:
            self.absences.append(
                Absence(
                    stage="source",
                    ref=skip.ref,
                    reason=skip.reason,
                    fix=skip.fix,
                    tool=skip.ref.partition("/")[2] or None,
                    code=bundle.code,
                )
            )
        for offer in bundle.offers:
            self._place(_tool(bundle, offer, capability_id), offer)

    def _place(self, tool: ResolvedTool | Absence, offer: Offer) -> None:
        if isinstance(tool, Absence):
            self.absences.append(tool)
            return
        holder = self.tools.get(tool.name)
        if holder is None:
            self.tools[tool.name] = tool
        elif holder.run != offer.run:
            self._clash(holder, tool)

    def _clash(self, holder: ResolvedTool, tool: ResolvedTool) -> None:
        renamed = qualified(tool.code, tool.name)
        if tool.kind not in _FIRST_WINS and renamed not in self.tools:
            self.tools[renamed] = replace(tool, name=renamed)
            return
        self.absences.append(
            Absence(
                stage="name",
                ref=tool.ref,
                reason=f"the name {tool.name!r} is taken by {holder.ref} ({holder.origin}), "
                f"so the one of {tool.origin} is left out",
                fix="Rename one of the tools, or give the agent only one of the codes.",
                tool=tool.name,
                code=tool.code,
            )
        )


def qualified(code: str, name: str) -> str:
    """`<code>__<name>` within 64 characters; a hash of the whole stands in for what was cut."""
    whole = f"{code}__{name}"
    if len(whole) <= MAX_NAME:
        return whole
    tail = hashlib.sha256(whole.encode()).hexdigest()[:8]
    return f"{whole[: MAX_NAME - 9]}_{tail}"


def _tool(bundle: Bundle, offer: Offer, capability_id: int | None) -> ResolvedTool | Absence:
    where = ref(bundle.kind, bundle.code, offer.spec.name)
    try:
        closed = bundle.kind in {"api", "package", "openapi"}
        checker = offer.checker or _checker(_Keyed(offer.spec), closed)
    except InvalidToolSchema as error:
        return Absence(
            stage="source",
            ref=where,
            reason=error.message,
            fix=f"Mend the schema in {offer.origin or 'its source'}.",
            tool=offer.spec.name,
            code=bundle.code,
        )
    return ResolvedTool(
        name=offer.spec.name,
        ref=where,
        spec=offer.spec,
        kind=bundle.kind,
        code=bundle.code,
        capability_id=capability_id,
        origin=offer.origin,
        run=offer.run,
        checker=checker,
        preview=offer.preview,
        upstream=offer.upstream,
        original=offer.original,
    )


class _Keyed:
    """A spec by identity: specs are immutable, and hashing their schemas would cost more."""

    __slots__ = ("spec",)

    def __init__(self, spec: ToolSpec) -> None:
        self.spec = spec

    def __hash__(self) -> int:
        return id(self.spec)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Keyed) and other.spec is self.spec


@lru_cache(maxsize=200_000)
def _checker(key: _Keyed, closed: bool) -> ArgumentChecker:
    return ArgumentChecker(key.spec.input_schema, closed=closed)
