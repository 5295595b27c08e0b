"""This module cuts a preview to what its reader may know of where a call goes.

A definition that the reader may read shows its host. One that a group's value aims, and a package,
show it to admins alone: anybody else learns the method, and whether the call would be let out.
"""

from __future__ import annotations

from dataclasses import replace

from toolcrib.grants.decide import INSTALLATION, decide, of_setting
from toolcrib.identity.caller import Caller
from toolcrib.secrets.masking import MASK
from toolcrib.secrets.settings import SettingOwner
from toolcrib.tools.source import KindName, Preview


def shown_to(caller: Caller, preview: Preview, *, kind: KindName) -> Preview:
    """The preview of a tool of this kind, for the caller who asked for it."""
    if caller.overseen:
        return preview
    if kind == "package":
        return preview if decide(caller, "see", INSTALLATION) else _without_definition(preview)
    if not preview.place_is_stored:
        return preview
    aims = of_setting(_aiming(caller, preview))
    return preview if decide(caller, "change", aims) else _without_place(preview)


def _aiming(caller: Caller, preview: Preview) -> SettingOwner:
    """Whose values say where the call goes."""
    if preview.group_id is None:
        return SettingOwner(user_id=caller.user_id)
    return SettingOwner(group_id=preview.group_id)


def _without_place(preview: Preview) -> Preview:
    """The path may be the stored address's as well, so nothing of the URL is left."""
    allowed = bool(preview.egress["allowed"])
    reason = "The address may be used." if allowed else "The call would be refused on its way out."
    return replace(
        preview,
        request={**preview.request, "url": MASK},
        egress={
            "allowed": allowed,
            "host": None,
            "addresses": [],
            "reason": f"{reason} An admin sees where it goes.",
        },
    )


def _without_definition(preview: Preview) -> Preview:
    masked = _without_place(preview)
    method = preview.request["method"]
    nothing: dict[str, str] = {}
    return replace(
        masked, request={"method": method, "url": MASK, "headers": nothing, "body": None}
    )
