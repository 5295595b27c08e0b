"""This module answers from an open platform: its users, its grants, its journal."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from toolcrib.catalog.capabilities import Capability, split_codes
from toolcrib.catalog.packages import slug_of
from toolcrib.desk.choosing import find_by_code
from toolcrib.desk.entering import Entrance
from toolcrib.dialects.hosted_mcp import settings_needed
from toolcrib.errors import InvalidRequest, NotGranted, SetupError
from toolcrib.grants.groups import acting_for
from toolcrib.identity.caller import Caller
from toolcrib.invocation.flight import Outcome, Request
from toolcrib.platform import Platform
from toolcrib.resolution.filling import filling_group
from toolcrib.resolution.refusal import refusal
from toolcrib.resolution.toolset import Absence, Toolset
from toolcrib.sources.oauth.options import has_auth
from toolcrib.surfaces.langchain.configurable import Asker
from toolcrib.surfaces.langchain.crib import Rows
from toolcrib.surfaces.langchain.given import Given, row_of_code

_PATIENCE = 10.0
"""Seconds that a synchronous call waits for the platform's loop to answer at all."""


class PlatformCrib:
    """Answers in the loop that opened the platform, whichever loop asks."""

    def __init__(self, platform: Platform) -> None:
        self._platform = platform
        self._home = platform.home
        self._entrance = Entrance(
            chats=platform.storage.chats, environment=platform.settings.environment
        )
        self.allow_langsmith = platform.settings.allow_langsmith

    def version(self) -> tuple[int, ...]:
        return self._platform.generation()

    async def ready(self) -> None:
        try:
            await asyncio.wait_for(self._home.run(_answer), _PATIENCE)
        except TimeoutError:
            raise SetupError(
                "The event loop that opened the platform does not answer: it is blocked by this "
                "very call, or it has stopped.",
                hint="Await ainvoke() in that loop, or call invoke() while it runs in a thread.",
            ) from None

    async def caller(self, asker: Asker) -> Caller:
        return await self._home.run(lambda: self._caller(asker))

    async def rows(self, given: Sequence[Given], caller: Caller) -> Rows:
        return await self._home.run(lambda: self._rows(given, caller))

    def refusal(self, row: Capability, caller: Caller) -> Absence | None:
        return refusal(row, caller)

    async def toolset(self, rows: Sequence[Capability], caller: Caller, asker: Asker) -> Toolset:
        resolver = self._platform.resolver
        stored = all(row.id > 0 for row in rows)
        if stored:
            return await self._home.run(lambda: resolver.for_capabilities(rows, caller))
        return await self._home.run(lambda: resolver.of(rows, caller))

    async def values(self, row: Capability, caller: Caller, asker: Asker) -> Mapping[str, str]:
        return await self._home.run(lambda: self._values(row, caller))

    async def login(self, row: Capability, caller: Caller) -> str | None:
        if not has_auth(row.options or {}):
            return None
        return await self._home.run(lambda: self._login(row, caller))

    async def invoke(self, request: Request) -> Outcome:
        return await self._home.run(lambda: self._platform.invoker.invoke(request))

    async def _caller(self, asker: Asker) -> Caller:
        if asker.user_id is None:
            raise InvalidRequest(
                "The config names no user.",
                where="configurable.logged_user_id",
                hint="Pass config={'configurable': {'logged_user_id': …, 'group_id': …}}.",
            )
        authenticator = self._platform.authenticator
        caller = await authenticator.caller_for(asker.user_id)
        try:
            caller = await authenticator.acting(caller, user_id=None, group_id=asker.group_id)
        except NotGranted:
            raise NotGranted(
                f"User {asker.user_id} is no member of group {asker.group_id}.",
                where="configurable.group_id",
            ) from None
        if asker.chat_id is None:
            placed = await self._entrance.outside(caller, asker.context)
        else:
            placed = await self._inside(caller, asker, asker.chat_id)
        return acting_for(placed, None)

    async def _inside(self, caller: Caller, asker: Asker, chat_id: int) -> Caller:
        chat = await self._entrance.chat(caller, chat_id)
        if asker.chat_uuid is not None and asker.chat_uuid != chat.uuid:
            raise InvalidRequest(
                f"Chat {chat.id} has another uuid.", where="configurable.chat_uuid"
            )
        placed = self._entrance.inside(caller, chat)
        if asker.group_id is not None and asker.group_id != placed.group_id:
            raise InvalidRequest(
                f"Chat {chat.id} belongs to group {placed.group_id}.",
                where="configurable.group_id",
                hint="Leave group_id out, or name that group.",
            )
        return placed

    async def _rows(self, given: Sequence[Given], caller: Caller) -> Rows:
        store = self._platform.storage.capabilities
        ids = [one.id for one in given if one.id is not None]
        stored = {row.id: row for row in await store.find_many(ids)} if ids else {}
        rows: dict[int, Capability] = {}
        absences: list[Absence] = []
        for place, one in enumerate(given):
            found = await self._found(one, place, stored, caller)
            rows |= {row.id: row for row in found if not isinstance(row, Absence)}
            absences += [absence for absence in found if isinstance(absence, Absence)]
        return Rows(rows=tuple(rows.values()), absences=absences)

    async def _found(
        self, one: Given, place: int, stored: Mapping[int, Capability], caller: Caller
    ) -> Sequence[Capability | Absence]:
        if one.id is not None:
            return [stored.get(one.id) or _not_stored(one)]
        if one.row is not None:
            return [one.row]
        store = self._platform.storage.capabilities
        found: list[Capability | Absence] = []
        for code in split_codes(one.code or ""):
            if slug_of(code) is not None:  # an installed package needs no row
                found.append(row_of_code(code, place))
                continue
            row = await find_by_code(store, caller, code, group_id=caller.group_id)
            found.append(row or _no_row(code))
        return found

    async def _login(self, row: Capability, caller: Caller) -> str | None:
        platform = self._platform
        asked = await platform.server_provider.asked(row, caller.user_id, caller.group_id)
        return await platform.logins.token_for(asked)

    async def _values(self, row: Capability, caller: Caller) -> Mapping[str, str]:
        values, user_id = self._platform.values, caller.user_id
        group_id = await filling_group(row, values, user_id=user_id, group_id=caller.group_id)
        found: dict[str, str] = {}
        for name in settings_needed(row.options or {}):
            value = await values.find(name, user_id=user_id, group_id=group_id)
            if value is not None:
                found[name] = value
        return found


async def _answer() -> None:
    """What a loop does to show that it runs."""


def _not_stored(given: Given) -> Absence:
    return Absence(
        stage="capability",
        ref=str(given),
        reason="the platform has no capability of this id",
        fix="Leave the id out of a row that is not stored.",
    )


def _no_row(code: str) -> Absence:
    return Absence(
        stage="capability",
        ref=f"native:{code}",
        reason=f"no capability that you may use has the code {code!r}",
        fix="Activate the code for the group, or give a row.",
        code=code,
    )
