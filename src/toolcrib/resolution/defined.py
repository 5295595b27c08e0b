"""This module brings the tools that a definition describes: described now, opened at the call.

Resolution asks of each setting "is there one?"; its value is fetched when a call opens the
source, and an open source is kept for its user and group until any setting changes.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from toolcrib.catalog.capabilities import Capability
from toolcrib.errors import ToolcribError
from toolcrib.resolution.conditions import Situation
from toolcrib.resolution.filling import filling_group
from toolcrib.resolution.offering import Found
from toolcrib.resolution.toolset import Absence
from toolcrib.secrets.memory import Kept, Memory
from toolcrib.secrets.placeholders import needs
from toolcrib.secrets.settings import SettingValues
from toolcrib.tools.call import Call
from toolcrib.tools.deadline import before_call
from toolcrib.tools.result import Output
from toolcrib.tools.source import Bundle, Description, Offer, Preview, Source, SourceKind

_KEPT = 4096


@dataclass(frozen=True, kw_only=True, slots=True)
class _Described:
    tools: Sequence[Description]
    settings: frozenset[str]
    error: ToolcribError | None = None


class _Owner(NamedTuple):
    """Whose values fill the definition."""

    user_id: int
    group_id: int | None


class DefinedProvider:
    """Capabilities whose options are a definition of one kind."""

    def __init__(self, kind: SourceKind, values: SettingValues, memory: Memory) -> None:
        self._kind = kind
        self._values = values
        self._described: OrderedDict[object, _Described] = OrderedDict()
        self._dropped: list[Source] = []
        self._open: Kept[Source] = memory.shelf(most=_KEPT, dropped=self._dropped.append)

    async def find(self, capability: Capability, situation: Situation) -> Found:
        described = self._describe(capability)
        if described.error is not None:
            return (), (_broken(capability, described.error),)
        owner = await self._owner_of(capability, situation)
        for name in sorted(described.settings):
            status = (await self._settings_of(owner, situation)).get(name)
            if status != "configured":
                return (), (_unset(capability, name, status),)
        offers = [
            self._offer(capability, tool, owner)
            for tool in described.tools
            if situation.in_chat or not tool.needs_chat
        ]
        bundle = Bundle(
            code=capability.codes[0],
            kind=self._kind.name,
            name=capability.name,
            description=capability.description,
            offers=offers,
        )
        outside = [
            _outside(capability, tool)
            for tool in described.tools
            if tool.needs_chat and not situation.in_chat
        ]
        return (bundle,), outside

    async def _owner_of(self, capability: Capability, situation: Situation) -> _Owner:
        user_id = situation.user_id
        group_id = await filling_group(
            capability, self._values, user_id=user_id, group_id=situation.group_id
        )
        return _Owner(user_id=user_id, group_id=group_id)

    async def _settings_of(self, owner: _Owner, situation: Situation) -> Mapping[str, str]:
        if owner.group_id == situation.group_id:
            return situation.settings
        return await self._values.available(user_id=owner.user_id, group_id=owner.group_id)

    def _offer(self, capability: Capability, tool: Description, owner: _Owner) -> Offer:
        name = tool.spec.name
        key = (*_key(capability), owner)

        async def run(call: Call) -> Output:
            source = self._open.get(key)
            if source is None:
                opening = self._opened(key, capability, owner)
                source, call = await before_call(call, opening, "the settings")
            return await source.call(name, call)

        async def preview(arguments: Mapping[str, Any]) -> Preview | None:
            source = self._open.get(key) or await self._opened(key, capability, owner)
            shown = await source.preview(name, arguments)
            return shown and replace(shown, group_id=owner.group_id)

        return Offer(
            spec=tool.spec,
            run=run,
            origin=f"capability {capability.id} {capability.name!r}",
            checker=tool.checker,
            preview=preview,
            upstream=_upstream(capability, tool, owner),
            prompt=tool.prompt,
            provenance=tool.provenance,
        )

    async def _opened(self, key: object, capability: Capability, owner: _Owner) -> Source:
        began = self._open.now()
        while self._dropped:
            await self._dropped.pop().close()
        values = {
            name: await self._values.get(name, user_id=owner.user_id, group_id=owner.group_id)
            for name in sorted(self._describe(capability).settings)
        }
        source = await self._kind.open(_definition(capability), values)
        self._open.put(key, source, made_at=began)
        return source

    def _describe(self, capability: Capability) -> _Described:
        key = _key(capability)
        known = self._described.get(key)
        if known is None:
            known = self._read(capability)
            self._described[key] = known
            while len(self._described) > _KEPT:
                self._described.popitem(last=False)
        return known

    def _read(self, capability: Capability) -> _Described:
        definition = _definition(capability)
        try:
            return _Described(
                tools=self._kind.describe(definition),
                settings=self._kind.needs(definition).settings,
            )
        except ToolcribError as error:
            return _Described(tools=(), settings=frozenset(), error=error)


def _key(capability: Capability) -> tuple[object, ...]:
    if capability.id > 0:
        return (capability.id, capability.version, capability.code)
    return (_Given(capability),)


class _Given:
    """A row that was given in code and not stored: known by itself, and kept while it is a key."""

    __slots__ = ("row",)

    def __init__(self, row: Capability) -> None:
        self.row = row

    def __hash__(self) -> int:
        return id(self.row)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Given) and other.row is self.row


def _definition(capability: Capability) -> Mapping[str, Any]:
    return {
        "code": capability.codes[0],
        "name": capability.name,
        "description": capability.description,
        "options": capability.options,
    }


def _upstream(capability: Capability, tool: Description, owner: _Owner) -> str | None:
    """One that settings decide is another one for everybody. So is that of a private definition:
    its author chooses what to ask for, and its failures must not stop the calls of others."""
    private = capability.access_type == "private" and capability.id > 0
    if tool.upstream is None or not (private or needs(tool.upstream)):
        return tool.upstream
    group = "" if owner.group_id is None else f" in group {owner.group_id}"
    return f"{tool.upstream} of user {owner.user_id}{group}"


def _broken(capability: Capability, error: ToolcribError) -> Absence:
    return Absence(
        stage="source",
        ref=f"{capability.type}:{capability.codes[0]}",
        reason=str(error),
        fix=f"Change the options of capability {capability.id}.",
        code=capability.code,
    )


def _unset(capability: Capability, name: str, status: str | None) -> Absence:
    why = "cannot be decrypted" if status else "is not set"
    return Absence(
        stage="setting",
        ref=f"{capability.type}:{capability.codes[0]}",
        reason=f"the setting {name!r} {why} for this user or group",
        fix=f"Set it with PUT /api/v1/settings/{name}.",
        code=capability.code,
    )


def _outside(capability: Capability, tool: Description) -> Absence:
    return Absence(
        stage="condition",
        ref=f"{capability.type}:{capability.codes[0]}/{tool.spec.name}",
        reason="it sends files, and files can only be sent from a chat",
        fix="Use the tool in a chat.",
        tool=tool.spec.name,
        code=capability.code,
    )
