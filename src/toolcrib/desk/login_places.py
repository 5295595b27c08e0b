"""This module finds the servers that want a login of a caller, by capabilities and packages."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from typing import Any, cast

from toolcrib.catalog.capabilities import Capability
from toolcrib.catalog.packages import Package, PackageStore, code_of
from toolcrib.desk.capabilities import Capabilities
from toolcrib.desk.package_codes import codes_in_reach, is_in
from toolcrib.desk.reach import require
from toolcrib.errors import InvalidRequest, NotFound, ToolcribError
from toolcrib.grants.agents import AgentStore
from toolcrib.grants.decide import decide, of_capability, of_setting
from toolcrib.grants.groups import usual_group
from toolcrib.identity.caller import Caller
from toolcrib.resolution.installed import PackageKinds, definition_of
from toolcrib.resolution.servers import ServerProvider
from toolcrib.secrets.logins import LoginOwner
from toolcrib.secrets.settings import SettingOwner
from toolcrib.sources.http.packages import PackageKind
from toolcrib.sources.mcp.addressing import of_capability as server_of
from toolcrib.sources.mcp.connector import wanted_by
from toolcrib.sources.mcp.packages import McpPackageKind
from toolcrib.sources.oauth.options import PERS
from toolcrib.sources.oauth.wanted import Wanted
from toolcrib.tools.dotted import expand_dotted

_PAGE = 200


class LoginPlaces:
    """Which logins there could be."""

    def __init__(
        self,
        *,
        capabilities: Capabilities,
        agents: AgentStore,
        packages: PackageStore,
        kinds: PackageKinds,
        provider: ServerProvider,
    ) -> None:
        self._capabilities = capabilities
        self._agents = agents
        self._packages = packages
        self._kinds = kinds
        self._provider = provider

    async def of(self, caller: Caller, *, after: str = "") -> AsyncIterator[Wanted]:
        """Behind the ref `after`: capabilities by id, then packages by slug. One's own logins, and
        one for each of the caller's groups; none for a token that is bound to an agent."""
        if caller.agent_id is not None:
            return
        kind, _, name = after.partition(":")
        if kind != "package":
            async for wanted in self._of_capabilities(caller, after=int(name or 0)):
                yield wanted
            name = ""
        async for wanted in self._of_packages(caller, after=name):
            yield wanted

    async def _of_capabilities(self, caller: Caller, *, after: int) -> AsyncIterator[Wanted]:
        while True:
            rows = await self._capabilities.list(caller, after=after, limit=_PAGE)
            for row in rows:
                for group_id in self._owners(caller, row):
                    try:
                        yield await self._of_row(caller, row, group_id)
                    except ToolcribError:
                        continue  # its settings are missing: its agent says so
            if len(rows) < _PAGE:
                return
            after = rows[-1].id

    async def _of_packages(self, caller: Caller, *, after: str) -> AsyncIterator[Wanted]:
        codes = await self._codes(caller)
        while True:
            page = await self._packages.list(after=after, limit=_PAGE)
            for package in page:
                if package.enabled and is_in(codes, package.code):
                    async for wanted in self._of_one(caller, package):
                        yield wanted
            if len(page) < _PAGE:
                return
            after = page[-1].slug

    async def _of_one(self, caller: Caller, package: Package) -> AsyncIterator[Wanted]:
        """The logins at one package's server: as the definition says, of nobody, of the caller, or
        of each of their groups."""
        kind = self._kinds.get(package.type)
        per = _per(package.config)
        if per is None or not isinstance(kind, McpPackageKind | PackageKind):
            return
        groups = sorted(caller.group_ids) if per == "group" else [usual_group(caller)]
        seen: set[str] = set()
        for group_id in groups or [None]:
            try:
                wanted = await kind.wanted(
                    definition_of(package), user_id=caller.user_id, group_id=group_id
                )
            except ToolcribError:
                continue  # its secrets are missing, or it wants a group and there is none
            if wanted is not None and wanted.owner.key not in seen:
                seen.add(wanted.owner.key)
                yield wanted

    async def get(self, caller: Caller, ref: str, *, group_id: int | None) -> Wanted:
        """The login of a server. `group_id`: one of the caller's, whose settings fill what the
        server needs. Raises NotFound, InvalidRequest, SecretMissing."""
        if group_id is not None:
            group = of_setting(SettingOwner(group_id=group_id))
            require(caller, "see", group, what=f"group {group_id}")
        kind, _, name = ref.partition(":")
        if kind == "mcp" and name.isdecimal():
            row = await self._capabilities.get(caller, int(name))
            per = _per(row.options)
            if per is None or not _is_usable(row, caller):
                raise NotFound(f"There is no server {ref!r} that wants a login.")
            group_id = (
                row.group_id if row.access_type == "group" else group_id or usual_group(caller)
            )
            return _owned(await self._of_row(caller, row, group_id), per, group_id)
        if kind == "package":
            return await self._of_package(caller, name, group_id)
        raise NotFound(
            f"There is no server {ref!r}.",
            hint="A ref is mcp:<capability id> or package:<slug>.",
        )

    def _owners(self, caller: Caller, row: Capability) -> list[int | None]:
        """The groups for which the row may want a login; None: the caller alone."""
        per = _per(row.options)
        if per is None or not _is_usable(row, caller):
            return []
        if per == "user":
            return [row.group_id if row.access_type == "group" else usual_group(caller)]
        if row.access_type == "group":
            return [row.group_id]
        return list[int | None](sorted(caller.group_ids))

    async def _of_row(self, caller: Caller, row: Capability, group_id: int | None) -> Wanted:
        asked = await self._provider.asked(row, caller.user_id, group_id)
        wanted = wanted_by(asked, server_of(asked.options, asked.values))
        if wanted is None:
            raise NotFound(f"The server of capability {row.id} wants no login.")
        return wanted

    async def _of_package(self, caller: Caller, slug: str, group_id: int | None) -> Wanted:
        package = await self._packages.find(slug)
        kind = self._kinds.get(package.type) if package else None
        if (
            package is None
            or not isinstance(kind, McpPackageKind | PackageKind)
            or not await self._reaches(caller, slug)
        ):
            raise NotFound(f"There is no server 'package:{slug}' that wants a login.")
        wanted = await kind.wanted(
            definition_of(package), user_id=caller.user_id, group_id=group_id
        )
        if wanted is None:
            raise NotFound(f"There is no server 'package:{slug}' that wants a login.")
        return _owned(wanted, wanted.auth.per, group_id)

    async def _reaches(self, caller: Caller, slug: str) -> bool:
        """Whether the package is the caller's to know.

        A token that is bound to an agent makes no logins, and asks for none.
        """
        if caller.agent_id is not None:
            return False
        return is_in(await self._codes(caller), code_of(slug))

    async def _codes(self, caller: Caller) -> set[str] | None:
        return await codes_in_reach(caller, capabilities=self._capabilities, agents=self._agents)


def _owned(wanted: Wanted, per: str, group_id: int | None) -> Wanted:
    """The same login, for the owner that the definition means."""
    if per == "user":
        return wanted
    if group_id is None:
        raise InvalidRequest("This login is a group's: say which.", where="group_id")
    return replace(wanted, owner=LoginOwner(group_id=group_id))


def _per(options: Mapping[str, Any] | None) -> str | None:
    """Whose login the options want; None where they want none."""
    try:
        auth: object = expand_dotted(options or {}).get("auth")
    except ToolcribError:
        return None
    per = None
    if isinstance(auth, Mapping):
        per = cast("Mapping[str, object]", auth).get("per", "user")
    return next((one for one in PERS if one == per), None)


def _is_usable(row: Capability, caller: Caller) -> bool:
    return (
        row.type == "mcp" and not row.archived and bool(decide(caller, "use", of_capability(row)))
    )
