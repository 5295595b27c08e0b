"""This module is the front door for packages of the `mcp_*` types: each exposes one remote tool.

A definition is the package itself. The tool is shown under the package's slug and called upstream
by `config.tool_name`. Its arguments are `config.input_schema`; without one the server is asked,
except the legacy type, which then takes none.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from toolcrib.errors import InvalidOptions, InvalidToolSchema, ToolcribError
from toolcrib.secrets.logins import LoginOwner
from toolcrib.secrets.placeholders import SECRETS, fill, needs
from toolcrib.sources.mcp.addressing import of_package, seconds
from toolcrib.sources.mcp.calling import call_tool
from toolcrib.sources.mcp.connector import sentence_of, trouble_of
from toolcrib.sources.mcp.package_config import (
    config_of,
    description_of,
    is_personal,
    login_findings,
    schema_of,
)
from toolcrib.sources.mcp.package_source import PackageSource
from toolcrib.sources.mcp.policy import StdioPolicy
from toolcrib.sources.mcp.pool import Key, Pool
from toolcrib.sources.mcp.servers import HttpServer
from toolcrib.sources.mcp.upstream import Upstream
from toolcrib.sources.oauth.bearing import bearer_for
from toolcrib.sources.oauth.credentials import Credentials
from toolcrib.sources.oauth.options import auth_of
from toolcrib.sources.oauth.wanted import Wanted, missing, owner_of, resource_of
from toolcrib.tools.call import Call
from toolcrib.tools.remote import ServerState, Trouble
from toolcrib.tools.result import Output
from toolcrib.tools.schema import EMPTY_OBJECT
from toolcrib.tools.source import (
    Description,
    Finding,
    KindName,
    Needs,
)
from toolcrib.tools.spec import ToolSpec

SecretLookup = Callable[[str], Awaitable[str]]
_NOBODY = 0
"""Whose connection looks at a server before anybody calls."""


class McpPackageKind:
    """SourceKind of one `mcp_*` type. `secret` is the vault's lookup, asked for every call.

    Without `policy` nothing is said about whether a command may be started.
    """

    name: KindName = "package"

    def __init__(
        self,
        kind: str,
        pool: Pool,
        secret: SecretLookup,
        policy: StdioPolicy | None,
        credentials: Credentials | None = None,
    ) -> None:
        self._credentials = credentials
        self._kind = kind
        self._pool = pool
        self._secret = secret
        self._policy = policy

    def check(self, definition: Mapping[str, Any]) -> Sequence[Finding]:
        """What is wrong inside `config`, beyond what every package is checked for."""
        config = definition.get("config")
        if not isinstance(config, Mapping):
            return []
        given = cast("Mapping[str, Any]", config)
        findings: list[Finding] = []
        try:
            seconds(given.get("timeout"))
            self._server(given, dict.fromkeys(needs(given, SECRETS), "https://placeholder.invalid"))
            schema_of(given)
        except (InvalidOptions, InvalidToolSchema) as error:
            findings.append(Finding(where=error.where or "config", message=error.message))
        findings += login_findings(given, self._kind)
        command = given.get("command")
        policy = self._policy if self._kind == "mcp_stdio" else None
        if policy is not None and isinstance(command, str) and not needs(command, SECRETS):
            try:
                policy.resolved(command)
            except ToolcribError as error:
                findings.append(
                    Finding(where="config.command", message=str(error), severity="warning")
                )
        return findings

    def needs(self, definition: Mapping[str, Any]) -> Needs:
        return Needs(secrets=needs(definition.get("config"), SECRETS))

    def describe(self, definition: Mapping[str, Any]) -> Sequence[Description]:
        """The tool as the package itself describes it. Raises InvalidOptions."""
        config = config_of(definition)
        schema = schema_of(config)
        return (description_of(definition, schema or EMPTY_OBJECT, None),)

    async def discover(self, definition: Mapping[str, Any]) -> Sequence[Description] | Trouble:
        """The tool as its server describes it where the package does not; else why it cannot be
        said now. Raises ToolcribError for a definition that cannot be used."""
        config = config_of(definition)
        schema = schema_of(config)
        if schema is not None or self._kind == "mcp_server":
            return self.describe(definition)
        upstream = await self._upstream(definition, _NOBODY, None)
        state = await upstream.look()
        trouble = trouble_of(state)
        if trouble is not None:
            return trouble
        remote = state.tools.specs.get(await self._remote_name(config))
        if remote is None:
            lacks = f"the server has no tool {config['tool_name']!r}"
            return Trouble(reason=lacks, brief=lacks)
        return (description_of(definition, remote.input_schema, remote),)

    async def state(
        self,
        definition: Mapping[str, Any],
        *,
        user_id: int,
        group_id: int | None,
        refresh: bool = False,
    ) -> ServerState:
        """How the package's server is to somebody; `refresh` reads its list now and waits for it.
        Of its tools only the package's own counts, under its slug. Raises ToolcribError."""
        config = config_of(definition)
        if not is_personal(config):
            user_id, group_id = _NOBODY, None
        upstream = await self._upstream(definition, user_id, group_id)
        state = await (upstream.refresh() if refresh else upstream.look())
        slug = str(definition["slug"])
        has = state.status == "connected" and (await self._remote_name(config) in state.tools.specs)
        return ServerState(
            ref=f"package:{slug}",
            label=str(definition.get("name") or slug),
            status=state.status,
            tools=[slug] if has else [],
            error=state.error,
            checked_at=state.checked_at,
        )

    async def try_out(self, definition: Mapping[str, Any]) -> Output:
        """Look for the tool on its server, now. Raises ToolcribError."""
        upstream = await self._upstream(definition, _NOBODY, None)
        state = await upstream.refresh()
        trouble = trouble_of(state)
        if trouble is not None:
            code = "unreachable" if state.error and state.error[0] == "unreachable" else None
            return Output.failed(code or "upstream_error", sentence_of(trouble))
        name = await self._remote_name(config_of(definition))
        if name not in state.tools.specs:
            known = ", ".join(list(state.tools.specs)[:20]) or "none"
            return Output.failed(
                "upstream_error", f"The server has no tool {name!r}; it has: {known}."
            )
        spec = state.tools.specs[name]
        return Output.of_text(
            f"The server has the tool {name!r}.",
            structured={"name": name, "input_schema": dict(spec.input_schema)},
        )

    async def open(self, definition: Mapping[str, Any], values: Mapping[str, str]) -> PackageSource:
        """`values` are not used: secrets are looked up for each call."""
        return PackageSource(self, definition)

    async def call(self, definition: Mapping[str, Any], call: Call) -> Output:
        config = config_of(definition)
        caller = call.caller
        upstream = await self._upstream(definition, caller.user_id, caller.group_id)
        name = await self._remote_name(config)
        known = upstream.state.tools.specs.get(name)
        spec = known or ToolSpec(name=name, input_schema=schema_of(config) or EMPTY_OBJECT)
        return await call_tool(upstream, spec, call, longest=self._pool.limits.calling)

    async def wanted(
        self, definition: Mapping[str, Any], *, user_id: int, group_id: int | None
    ) -> Wanted | None:
        """The login that the package's server needs for somebody; None where it needs none."""
        config = config_of(definition)
        if config.get("auth") is None:
            return None
        values = await self._values(config)
        auth = auth_of(config, values, where="config.auth", language=SECRETS)
        server = self._server(config, values)
        if auth is None or not isinstance(server, HttpServer):
            return None
        owner = LoginOwner()
        if auth.grant == "authorization_code":
            owner = owner_of(auth, user_id=user_id, group_id=group_id)
        slug = str(definition["slug"])
        return Wanted(
            ref=f"package:{slug}",
            label=str(definition.get("name") or slug),
            owner=owner,
            resource=resource_of(server.url),
            auth=auth,
            host=server.host,
        )

    async def _upstream(
        self, definition: Mapping[str, Any], user_id: int, group_id: int | None
    ) -> Upstream:
        config = config_of(definition)
        server = self._server(config, await self._values(config))
        wanted = await self.wanted(definition, user_id=user_id, group_id=group_id)
        if wanted is not None:
            if self._credentials is None:
                raise missing(wanted, "logins are kept by an open platform, and this is none")
            server = replace(server, auth=await bearer_for(self._credentials, wanted))
        await self._pool.prepare()
        slug = str(definition["slug"])
        return self._pool.upstream(
            Key(ref=f"package:{slug}", user_id=user_id, group_id=group_id),
            server,
            version=0,
            label=str(definition.get("name") or slug),
        )

    def _server(self, config: Mapping[str, Any], values: Mapping[str, str]) -> Any:
        return of_package(self._kind, config, values)

    async def _values(self, value: object) -> dict[str, str]:
        return {name: await self._secret(name) for name in sorted(needs(value, SECRETS))}

    async def _remote_name(self, config: Mapping[str, Any]) -> str:
        name = config["tool_name"]
        return str(fill(name, await self._values(name), language=SECRETS, where="config.tool_name"))
