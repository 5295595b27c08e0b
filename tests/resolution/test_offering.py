"""What the codes of one capability bring, packages among them."""

from __future__ import annotations

import asyncio

from tests.resolution.test_conditions import OneShelf, situation
from toolcrib.catalog.capabilities import Capability
from toolcrib.resolution.offering import InternalProvider
from toolcrib.resolution.toolset import Absence
from toolcrib.tools.source import Bundle


class Slow:
    """Packages whose servers answer once all of them were asked."""

    def __init__(self, count: int) -> None:
        self._all = asyncio.Barrier(count)

    async def find(self, slug: str) -> Bundle | Absence:
        await self._all.wait()
        if slug == "away":
            return Absence(stage="source", ref=f"package:{slug}", reason="it is away")
        return Bundle(code=f"installed__{slug}", kind="package")


async def test_packages_of_one_capability_are_looked_at_at_once() -> None:
    """No server waits for another's; what they bring stays in the order of the codes."""
    codes = "installed__one,shop,installed__away,installed__two"
    row = Capability(id=1, name="Many", code=codes)
    provider = InternalProvider(OneShelf(), Slow(3))
    async with asyncio.timeout(60):
        bundles, absences = await provider.find(row, situation())
    found = [bundle.code for bundle in bundles]
    assert found == ["installed__one", "shop", "installed__two"]
    assert [absence.ref for absence in absences] == ["package:away"]
