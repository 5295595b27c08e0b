"""This module brings the tools of the servers that MCP capabilities name: connected to by Toolcrib.

Beside them stands the server's hosted form, for models whose vendor connects itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from toolcrib.catalog.capabilities import Capability
from toolcrib.errors import ToolcribError
from toolcrib.resolution.conditions import Situation
from toolcrib.resolution.filling import filling_group
from toolcrib.resolution.offering import Found
from toolcrib.resolution.toolset import Absence
from toolcrib.secrets.placeholders import needs
from toolcrib.secrets.settings import SettingValues
from toolcrib.sources.mcp.canonical import masked
from toolcrib.sources.oauth.wanted import NotConnected
from toolcrib.tools.call import Call
from toolcrib.tools.remote import Connector, ServerAsked, ServerSeen, ServerState
from toolcrib.tools.result import Output
from toolcrib.tools.source import Bundle, Offer, ref
from toolcrib.tools.spec import ToolSpec

_CHANGED = (
    "was changed by its server since it was listed. "
    "List the tools again: it is there once its new definition is accepted."
)


class ServerProvider:
    """Capabilities of type mcp. `pinned`: a call is for the definition that its caller was shown,
    and refused when the server has another by now."""

    def __init__(self, connector: Connector, values: SettingValues, *, pinned: bool = True) -> None:
        self._connector = connector
        self._values = values
        self._pinned = pinned

    async def find(self, capability: Capability, situation: Situation) -> Found:
        options = capability.options or {}
        try:
            delegation = {**masked(options), "ref": _ref(capability)}
            unset = await self._unset(capability, situation)
            if unset is not None:
                return (), (unset,)
            owner = (situation.user_id, situation.group_id)
            seen = await self._connector.see(await self.asked(capability, *owner))
        except NotConnected as error:
            return (), (_not_connected(capability, error),)
        except ToolcribError as error:
            fix = f"Change the options of capability {capability.id}."
            return (), (_absence(capability, str(error), fix, brief=error.brief or ""),)
        bundle = _bundle(capability, seen, delegation, pinned=self._pinned)
        return (bundle,), _troubles(capability, seen)

    async def _unset(self, capability: Capability, situation: Situation) -> Absence | None:
        settings = situation.settings
        group_id = await filling_group(
            capability, self._values, user_id=situation.user_id, group_id=situation.group_id
        )
        if group_id != situation.group_id:
            settings = await self._values.available(user_id=situation.user_id, group_id=group_id)
        for name in sorted(needs(capability.options or {})):
            status = settings.get(name)
            if status != "configured":
                why = "cannot be decrypted" if status else "is not set"
                return replace(
                    _absence(
                        capability,
                        f"the setting {name!r} {why} for this user or group",
                        f"Set it with PUT /api/v1/settings/{name}.",
                    ),
                    stage="setting",
                )
        return None

    async def state(
        self, capability: Capability, *, user_id: int, group_id: int | None, refresh: bool = False
    ) -> ServerState:
        """How the server of a capability is to somebody. What keeps it away is its error."""
        try:
            asked = await self.asked(capability, user_id, group_id)
            return await self._connector.state(asked, refresh=refresh)
        except ToolcribError as error:
            return ServerState(
                ref=_ref(capability),
                label=_label(capability),
                status="failed",
                error=(error.code, str(error)),
            )

    async def asked(
        self, capability: Capability, user_id: int, group_id: int | None
    ) -> ServerAsked:
        """The server as somebody asks for it. Raises SecretMissing, SecretUndecryptable."""
        options = capability.options or {}
        group_id = await filling_group(capability, self._values, user_id=user_id, group_id=group_id)
        values = {
            name: await self._values.get(name, user_id=user_id, group_id=group_id)
            for name in sorted(needs(options))
        }
        return ServerAsked(
            ref=_ref(capability),
            version=capability.version,
            label=_label(capability),
            options=options,
            values=values,
            user_id=user_id,
            group_id=group_id,
        )


def _bundle(
    capability: Capability, seen: ServerSeen, delegation: Mapping[str, Any], *, pinned: bool
) -> Bundle:
    code = capability.codes[0]
    return Bundle(
        code=code,
        kind="mcp",
        name=capability.name,
        description=capability.description,
        offers=[_offer(capability, spec, seen, pinned=pinned) for spec in seen.tools],
        skipped=[replace(skip, ref=ref("mcp", code, skip.ref)) for skip in seen.skipped],
        delegations=(delegation,),
    )


def _offer(capability: Capability, spec: ToolSpec, seen: ServerSeen, *, pinned: bool) -> Offer:
    async def run(call: Call) -> Output:
        if seen.call is None:
            return Output.failed("internal", "The server cannot be called.")
        if pinned and seen.current is not None and _is_another(spec, seen.current(spec.name)):
            return Output.failed("held", f"{spec.name} {_CHANGED}")
        return await seen.call(spec, call)

    return Offer(
        spec=spec,
        run=run,
        origin=f"MCP server of capability {capability.id} {capability.name!r}",
        upstream=seen.place,
    )


def _is_another(shown: ToolSpec, now: ToolSpec | None) -> bool:
    return now is not None and now is not shown and now.fingerprint != shown.fingerprint


def _not_connected(capability: Capability, error: NotConnected) -> Absence:
    fix = error.hint or "Log in at the server."
    absence = _absence(capability, error.message, fix, brief=error.brief or "")
    return replace(absence, stage="setting")


def _troubles(capability: Capability, seen: ServerSeen) -> Sequence[Absence]:
    """Why tools are missing that nobody can name."""
    absences = [_absence(capability, warning, "Mend the server.") for warning in seen.warnings]
    if seen.trouble is not None:
        again = f"POST /api/v1/mcp/servers/{_ref(capability)}/refresh"
        fix = f"Look at the server of {capability.code!r}, then {again}."
        told = seen.trouble
        absences.append(_absence(capability, told.reason, fix, brief=told.brief))
    return absences


def _absence(capability: Capability, reason: str, fix: str, *, brief: str = "") -> Absence:
    return Absence(
        stage="source",
        ref=_ref(capability),
        reason=reason,
        fix=fix,
        code=capability.code,
        brief=brief,
    )


def _label(capability: Capability) -> str:
    return str((capability.options or {}).get("server_label") or capability.name)


def _ref(capability: Capability) -> str:
    return f"mcp:{capability.id}"
