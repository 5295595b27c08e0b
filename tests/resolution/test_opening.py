"""This module makes the opening of a definition slow: it is inside the deadline of the call."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pytest

from toolcrib.catalog.capabilities import Capability
from toolcrib.catalog.packages import Package
from toolcrib.errors import CallTimeout
from toolcrib.identity.caller import Caller
from toolcrib.identity.context import Context
from toolcrib.net.client import GuardedClient
from toolcrib.net.guard import EgressPolicy
from toolcrib.resolution.conditions import Situation
from toolcrib.resolution.defined import DefinedProvider
from toolcrib.resolution.installed import InstalledPackages
from toolcrib.secrets.memory import Memory
from toolcrib.secrets.sealing import Sealer, new_key
from toolcrib.secrets.settings import SealedSetting, SettingOwner, SettingValues
from toolcrib.secrets.vault import Vault
from toolcrib.sources.http.api import ApiKind
from toolcrib.sources.http.packages import PackageKind
from toolcrib.sources.http.source import HttpSource
from toolcrib.tools.call import Call

KEY = new_key()
SEALER = Sealer(lambda: [KEY])


class StuckSettings:
    """A store that lists, and never finds: a database that went away in between."""

    async def list(self, owners: object, **_: object) -> list[SealedSetting]:
        return [
            SealedSetting(
                name="KEY",
                owner=SettingOwner(user_id=1),
                sealed=SEALER.seal("a-secret-value"),
                updated_at=datetime.now(UTC),
            )
        ]

    async def find(self, name: str, owner: SettingOwner) -> SealedSetting | None:
        await asyncio.Event().wait()
        return None


class OnePackage:
    async def find(self, slug: str) -> Package:
        return Package(
            slug=slug,
            name="KB",
            type="http",
            config={"url": "https://kb.test/"},
            installed_at=datetime.now(UTC),
        )


class StuckKind(PackageKind):
    """A kind whose opening hangs."""

    async def open(self, definition: Mapping[str, Any], values: Mapping[str, str]) -> HttpSource:
        await asyncio.Event().wait()
        return await super().open(definition, values)


def a_call() -> Call:
    return Call(call_id="c", arguments={}, caller=Caller(user_id=1), deadline=0.1, checked=True)


async def test_settings_that_do_not_come_end_at_the_deadline() -> None:
    """The tool was offered; the call ends in time and names what it waited for."""
    values = SettingValues(StuckSettings(), SEALER)  # type: ignore[arg-type]
    async with GuardedClient(EgressPolicy()) as client:
        provider = DefinedProvider(ApiKind(client), values, Memory())
        row = Capability(
            id=7,
            name="x",
            code="x",
            type="api",
            options={"name": "x", "url": "https://h.test/", "headers": {"K": "${KEY}"}},
        )
        situation = Situation(
            context=Context(),
            in_chat=False,
            user_id=1,
            group_id=None,
            settings={"KEY": "configured"},
        )
        (bundle,), absent = await provider.find(row, situation)
        assert list(absent) == []
        with pytest.raises(CallTimeout, match=r"the settings were not ready within 0\.1 s"):
            await bundle.offers[0].run(a_call())


async def test_a_package_that_does_not_open_ends_at_the_deadline() -> None:
    """The same for what an installed package needs."""
    async with GuardedClient(EgressPolicy()) as client:
        vault = Vault(object(), SEALER)  # type: ignore[arg-type]  # has no secrets to ask for
        kinds = {"http": StuckKind(client, vault.get)}
        bundle = await InstalledPackages(OnePackage(), vault, kinds).find("kb")  # type: ignore[arg-type]
        with pytest.raises(CallTimeout, match="the package and its secrets were not ready"):
            await bundle.offers[0].run(a_call())  # type: ignore[union-attr]
