"""This module shows resolution the servers of capabilities: their tools, and how to call them."""

from __future__ import annotations

from dataclasses import replace

from toolcrib.sources.mcp.addressing import of_capability, place_of
from toolcrib.sources.mcp.calling import call_tool
from toolcrib.sources.mcp.canonical import filled, tool_names
from toolcrib.sources.mcp.pool import Key, Pool
from toolcrib.sources.mcp.servers import HttpServer
from toolcrib.sources.mcp.upstream import State, Upstream
from toolcrib.sources.oauth.bearing import bearer_for
from toolcrib.sources.oauth.credentials import Credentials
from toolcrib.sources.oauth.options import auth_of
from toolcrib.sources.oauth.wanted import Wanted, missing, owner_of, resource_of
from toolcrib.tools.call import Call
from toolcrib.tools.dotted import expand_dotted
from toolcrib.tools.remote import ServerAsked, ServerSeen, ServerState, Trouble
from toolcrib.tools.result import Output
from toolcrib.tools.source import Skip
from toolcrib.tools.spec import ToolSpec

_NO_LIST = "allowed_tools cannot be read as a list of tool names"
NO_LIST = Trouble(reason=_NO_LIST, brief=_NO_LIST)
_NOT_YET = "the server has not answered yet; it is being connected to"


class McpConnector:
    """The Connector of `tools.remote`, over a pool."""

    def __init__(self, pool: Pool, credentials: Credentials | None = None) -> None:
        """Without `credentials` no server that wants a login can be connected to."""
        self._pool = pool
        self._credentials = credentials

    async def state(self, asked: ServerAsked, *, refresh: bool = False) -> ServerState:
        upstream, _ = await self._upstream(asked)
        state = await (upstream.refresh() if refresh else upstream.look())
        return ServerState(
            ref=asked.ref,
            label=asked.label,
            status=state.status,
            tools=list(state.tools.specs),
            error=state.error,
            checked_at=state.checked_at,
            specs=list(state.tools.specs.values()),
        )

    async def see(self, asked: ServerAsked) -> ServerSeen:
        upstream, server = await self._upstream(asked)
        options = filled(asked.options, asked.values)
        allowed = tool_names(options["allowed_tools"]) if "allowed_tools" in options else None
        if "allowed_tools" in options and allowed is None:
            return ServerSeen(trouble=NO_LIST)
        refuses = options.get("require_approval") != "never"
        return self._seen(upstream, await upstream.look(), allowed, _place(asked, server), refuses)

    async def _upstream(self, asked: ServerAsked) -> tuple[Upstream, HttpServer]:
        server = of_capability(asked.options, asked.values)
        wanted = wanted_by(asked, server)
        if wanted is not None:
            if self._credentials is None:
                raise missing(wanted, "logins are kept by an open platform, and this is none")
            server = replace(server, auth=await bearer_for(self._credentials, wanted))
        await self._pool.prepare()
        upstream = self._pool.upstream(
            Key(ref=asked.ref, user_id=asked.user_id, group_id=asked.group_id),
            server,
            version=asked.version,
            label=asked.label,
        )
        return upstream, server

    def _seen(
        self,
        upstream: Upstream,
        state: State,
        allowed: list[str] | None,
        place: str | None,
        refuses: bool,
    ) -> ServerSeen:
        trouble = trouble_of(state)
        if trouble is not None:
            return ServerSeen(trouble=trouble)
        specs, skipped = state.tools.specs, list(state.tools.skipped)
        chosen = list(specs.values())
        if allowed is not None:
            chosen = [specs[name] for name in dict.fromkeys(allowed) if name in specs]
            skipped = [skip for skip in skipped if skip.ref in allowed]
            known = set(specs) | {skip.ref for skip in skipped}
            skipped += [_unknown(name) for name in allowed if name not in known]

        async def run(spec: ToolSpec, call: Call) -> Output:
            if refuses:
                return _needs_approval(spec)
            return await call_tool(upstream, spec, call, longest=self._pool.limits.calling)

        return ServerSeen(
            tools=chosen,
            skipped=skipped,
            warnings=state.tools.warnings,
            call=run,
            current=lambda name: upstream.state.tools.specs.get(name),  # noqa: PLW0108 - by then
            place=place,
        )


def _place(asked: ServerAsked, server: HttpServer) -> str | None:
    """What its circuit is called. A server that settings decide is another one for everybody."""
    if server.template is None:
        return place_of(server.url)
    group = "" if asked.group_id is None else f" in group {asked.group_id}"
    return f"{server.template} of user {asked.user_id}{group}"


def wanted_by(asked: ServerAsked, server: HttpServer) -> Wanted | None:
    """The login that a server needs for whoever asks; None where it needs none."""
    auth = auth_of(expand_dotted(asked.options), asked.values, where="options.auth")
    if auth is None:
        return None
    return Wanted(
        ref=asked.ref,
        label=asked.label,
        owner=owner_of(auth, user_id=asked.user_id, group_id=asked.group_id),
        resource=resource_of(server.url),
        auth=auth,
        host=server.host,
    )


def trouble_of(state: State) -> Trouble | None:
    """Why a server has nothing to offer now; None when it has."""
    if state.status == "connected":
        return None
    if state.error is not None:
        reason = f"the server failed: {state.error[1].rstrip('.')}"
        return Trouble(reason=reason, brief=state.brief)
    return Trouble(reason=_NOT_YET, brief=_NOT_YET)


def sentence_of(trouble: Trouble) -> str:
    """The reason as a sentence."""
    return f"{trouble.reason[0].upper()}{trouble.reason[1:]}."


def _unknown(name: str) -> Skip:
    return Skip(
        ref=name,
        reason="allowed_tools names it, and the server has no such tool",
        fix="Correct allowed_tools, or the server.",
    )


def _needs_approval(spec: ToolSpec) -> Output:
    return Output.failed(
        "approval_needed",
        f"{spec.name} may only run after a person approved it, and approvals cannot be given here. "
        "Whoever owns the capability can set require_approval to 'never'.",
    )
