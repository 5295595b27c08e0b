"""This module opens a crib, empty or with two tenants, for the tests of the application."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import pytest

from tests.support.crib import Crib, open_crib
from tests.support.tenants import Tenants, make_tenants
from toolcrib.settings import Settings


@pytest.fixture
async def crib(settings: Settings) -> AsyncGenerator[Crib]:
    async with open_crib(settings) as opened:
        yield opened


@pytest.fixture
async def tenants(crib: Crib) -> Tenants:
    return await make_tenants(crib)
