"""This module gives an installation that nobody has entered yet what new agents begin with."""

from __future__ import annotations

from contextlib import suppress

from toolcrib.catalog.capabilities import CapabilityDraft, CapabilityStore
from toolcrib.coordination.signals import Signals
from toolcrib.errors import Conflict
from toolcrib.identity.accounts import UserStore

CORE = CapabilityDraft(
    name="Core",
    code="core",
    description="Messages to the user, a task list, loading of other tools.",
    is_default=True,
    access_type="system",
)
"""The default capability of a new installation; an admin may archive it like any other."""


async def furnish(users: UserStore, capabilities: CapabilityStore, signals: Signals) -> None:
    """Make the default capability, before the first user is made and never again.

    Two processes may start at once: one of them makes it.
    """
    if await users.list(limit=1):
        return
    with suppress(Conflict):
        await capabilities.create(CORE)
        await signals.bump("catalog")
