"""This module answers without a database: registered tools, and settings from the config.

There are no users and no grants to ask, so nothing is decided and nothing recorded; arguments
are checked, and results masked and capped, as everywhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import cast

from toolcrib.catalog.capabilities import Capability
from toolcrib.dialects.hosted_mcp import settings_needed
from toolcrib.errors import SecretMissing
from toolcrib.identity.caller import Caller, ChatRef
from toolcrib.identity.context import Context, Environment
from toolcrib.invocation.flight import Outcome, Request
from toolcrib.platform import Bare
from toolcrib.plugin.registration import Registry
from toolcrib.resolution.refusal import refusal
from toolcrib.resolution.resolve import resolve
from toolcrib.resolution.toolset import Absence, Toolset
from toolcrib.sources.oauth.options import has_auth
from toolcrib.surfaces.langchain.configurable import Asker
from toolcrib.surfaces.langchain.crib import Rows
from toolcrib.surfaces.langchain.given import Given, row_of_code

NOBODY = 0
"""The user's id where the config names none."""


class BareCrib:
    """Answers from a registry alone."""

    def __init__(self, parts: Bare, registry: Registry) -> None:
        self._parts = parts
        self._registry = registry
        self.allow_langsmith = parts.settings.allow_langsmith

    def version(self) -> tuple[int, ...]:
        return (self._registry.version,)

    async def ready(self) -> None:
        """Nothing has to run elsewhere."""

    async def caller(self, asker: Asker) -> Caller:
        group = asker.group_id
        chat = asker.chat_id
        return Caller(
            user_id=NOBODY if asker.user_id is None else asker.user_id,
            group_ids=frozenset() if group is None else frozenset({group}),
            group_id=group,
            chat=None if chat is None else ChatRef(id=chat, uuid=asker.chat_uuid or ""),
            context=_context(asker),
        )

    async def rows(self, given: Sequence[Given], caller: Caller) -> Rows:
        rows: list[Capability] = []
        absences: list[Absence] = []
        for place, one in enumerate(given):
            if one.row is not None:
                rows.append(replace(one.row, access_type="user"))
            elif one.code is not None:
                rows.append(row_of_code(one.code, place))
            else:
                absences.append(_no_database(one))
        return Rows(rows=rows, absences=absences)

    def refusal(self, row: Capability, caller: Caller) -> Absence | None:
        return refusal(row, caller)

    async def toolset(self, rows: Sequence[Capability], caller: Caller, asker: Asker) -> Toolset:
        known = {name: "configured" for name, value in asker.settings.items() if value.strip()}
        return await resolve(rows, caller, providers=self._parts.providers, settings=known)

    async def values(self, row: Capability, caller: Caller, asker: Asker) -> Mapping[str, str]:
        wanted = settings_needed(row.options or {})
        return {name: asker.settings[name] for name in wanted if name in asker.settings}

    async def login(self, row: Capability, caller: Caller) -> str | None:
        if has_auth(row.options or {}):
            raise SecretMissing(
                "The server wants a login, and nobody keeps logins here.",
                hint="Open a platform: `async with open_platform(settings) as platform`.",
            )
        return None

    async def invoke(self, request: Request) -> Outcome:
        return await self._parts.invoker.invoke(request)


def _context(asker: Asker) -> Context:
    given = asker.context or {}
    environment = cast("Environment", given.get("environment") or "production")
    return Context.of(given, environment=environment)


def _no_database(given: Given) -> Absence:
    return Absence(
        stage="capability",
        ref=str(given),
        reason="an id means a row of a database, and no platform is open here",
        fix="Open one with open_platform(), or give the row itself or its code.",
    )
