"""This module decides whose settings fill a capability's placeholders: who aims, pays.

A group's value must not go to an address that one of its members chose. So a private definition
is filled from its user's own settings alone, and so is any definition whose address the user
turns to a place of their own.
"""

from __future__ import annotations

from toolcrib.catalog.capabilities import Capability
from toolcrib.secrets.placeholders import needs
from toolcrib.secrets.settings import SettingValues

_ADDRESSES = ("url", "server_url")


async def filling_group(
    row: Capability, values: SettingValues, *, user_id: int, group_id: int | None
) -> int | None:
    """The group whose settings fill what the user has not set; None: the user's own alone."""
    if group_id is None or (row.access_type == "private" and row.id > 0):
        return None
    options = row.options or {}
    aims = needs({key: options[key] for key in _ADDRESSES if key in options})
    if not aims:
        return group_id
    own = await values.available(user_id=user_id, group_id=None)
    return None if aims & own.keys() else group_id
