"""This module gives the tools of one agent their names and says which tool lost a clash.

Python and API tools keep their names: the first by code order wins (PrimeThink's rule). Tools of
the other kinds keep theirs where nobody else has it and are `<code>__<name>` otherwise.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache

from toolcrib.errors import InvalidToolSchema
from toolcrib.resolution.toolset import Absence, ResolvedTool
from toolcrib.tools.keyed import Keyed
from toolcrib.tools.schema import ArgumentChecker
from toolcrib.tools.source import Bundle, Offer, ref

MAX_NAME = 64
_ILLEGAL = re.compile(r"[^A-Za-z0-9_-]", re.ASCII)
_FIRST_WINS = frozenset({"native", "api"})


Original = tuple[str, str]
"""A tool by its source (`mcp:<capability id>`) and the name that the source itself uses."""


class Names:
    """Collects the tools of one agent under names that are unique.

    `assigned` are the names that tools of servers, packages and documents have on this agent
    already, those of tools that are not there now included. `news` are the ones given since.
    """

    def __init__(self, assigned: Mapping[Original, str] | None = None) -> None:
        self.absences: list[Absence] = []
        self.news: dict[Original, str] = {}
        self._assigned = dict(assigned or {})
        self._claims = Counter(self._assigned.values())  # how many tools have each name
        self._offered: list[tuple[ResolvedTool, Original | None]] = []
        self._tools: dict[str, ResolvedTool] | None = None

    @property
    def tools(self) -> dict[str, ResolvedTool]:
        """By their exposed names, in the order in which they were added."""
        if self._tools is None:
            self._tools = self._settled()
        return self._tools

    def add(self, bundle: Bundle, *, capability_id: int | None) -> None:
        self._tools = None
        for skip in bundle.skipped:
            self.absences.append(
                Absence(
                    stage="source",
                    ref=skip.ref,
                    reason=skip.reason,
                    fix=skip.fix,
                    tool=skip.ref.partition("/")[2] or None,
                    code=bundle.code,
                    brief=skip.brief,
                )
            )
        for offer in bundle.offers:
            self._take(bundle, offer, capability_id)

    def _take(self, bundle: Bundle, offer: Offer, capability_id: int | None) -> None:
        tool = _tool(bundle, offer, capability_id)
        if isinstance(tool, Absence):
            self.absences.append(tool)
        elif tool.kind in _FIRST_WINS:
            self._offered.append((tool, None))
        else:
            source = f"{tool.kind}:{capability_id or tool.code}"
            self._offered.append((tool, (source, tool.spec.name)))

    def _settled(self) -> dict[str, ResolvedTool]:
        """First who keeps a name by right, then who has one already, then the newcomers."""
        holders: dict[str, ResolvedTool] = {}
        for tool, original in self._offered:
            if original is None:
                self._keep_or_lose(holders, tool)
        placed: dict[Original, str] = {}
        for tool, original in self._offered:
            name = self._assigned.get(original) if original else None
            if original is not None and name is not None and name not in holders:
                holders[name] = tool
                placed[original] = name
        for tool, original in self._offered:
            if original is not None and original not in placed:
                self._place_newcomer(holders, placed, tool, original)
        names = {id(tool): name for name, tool in holders.items()}
        return {
            names[id(tool)]: replace(tool, name=names[id(tool)])
            if tool.name != names[id(tool)]
            else tool
            for tool, _ in self._offered
            if id(tool) in names
        }

    def _keep_or_lose(self, holders: dict[str, ResolvedTool], tool: ResolvedTool) -> None:
        holder = holders.setdefault(tool.name, tool)
        if holder.run != tool.run:
            self.absences.append(_lost(holder, tool))

    def _place_newcomer(
        self,
        holders: dict[str, ResolvedTool],
        placed: dict[Original, str],
        tool: ResolvedTool,
        original: Original,
    ) -> None:
        own = self._assigned.get(original)
        for name in (_legal(tool.name), qualified(tool.code, tool.name)):
            if name not in holders and self._claims[name] <= (name == own):
                holders[name] = tool
                placed[original] = name
                self._assigned[original] = self.news[original] = name
                self._claims[name] += 1
                if own is not None:
                    self._claims[own] -= 1
                return
        name = qualified(tool.code, tool.name)
        self.absences.append(_lost(holders.get(name, tool), tool))


def _lost(holder: ResolvedTool, tool: ResolvedTool) -> Absence:
    return Absence(
        stage="name",
        ref=tool.ref,
        reason=f"the name {tool.name!r} is taken by {holder.ref} ({holder.origin}), "
        f"so the one of {tool.origin} is left out",
        fix="Rename one of the tools, or give the agent only one of the codes.",
        tool=tool.name,
        code=tool.code,
    )


def _legal(name: str) -> str:
    """A name that every model takes: letters, digits, `_` and `-`, at most 64 of them."""
    legal = _ILLEGAL.sub("_", name)
    if legal == name and len(name) <= MAX_NAME:
        return name
    tail = hashlib.sha256(name.encode()).hexdigest()[:8]
    return f"{legal[: MAX_NAME - 9]}_{tail}"


def qualified(code: str, name: str) -> str:
    """`<code>__<name>` within 64 characters; a hash of the whole stands in for what was cut."""
    return _legal(f"{code}__{name}")


def _tool(bundle: Bundle, offer: Offer, capability_id: int | None) -> ResolvedTool | Absence:
    where = ref(bundle.kind, bundle.code, offer.spec.name)
    try:
        closed = bundle.kind in {"api", "package", "openapi"}
        checker = offer.checker or _checker(Keyed(offer.spec), closed)
    except InvalidToolSchema as error:
        return Absence(
            stage="source",
            ref=where,
            reason=error.message,
            fix=f"Mend the schema in {offer.origin or 'its source'}.",
            tool=offer.spec.name,
            code=bundle.code,
            brief="the schema cannot be used",
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
        prompt=offer.prompt,
        original=offer.original,
        hold=offer.hold,
    )


@lru_cache(maxsize=200_000)
def _checker(key: Keyed, closed: bool) -> ArgumentChecker:
    return ArgumentChecker(key.spec.input_schema, closed=closed)
