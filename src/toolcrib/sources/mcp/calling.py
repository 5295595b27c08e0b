"""This module makes one call through an upstream and says what became of it.

It is sent a second time only where the first surely did nothing: the connection was over before
it, or the server says that it does not know the session.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

import jsonschema_rs

from toolcrib.errors import SourceError, SourceUnreachable
from toolcrib.sources.mcp.asking import Unanswered, with_input
from toolcrib.sources.mcp.conversation import Ask, HeadersRefused, Refused, SessionLost
from toolcrib.sources.mcp.results import compiled, output_of
from toolcrib.sources.mcp.servers import HttpServer, private_now
from toolcrib.sources.mcp.upstream import Upstream
from toolcrib.tools.call import Call, no_log, no_progress
from toolcrib.tools.keyed import Keyed
from toolcrib.tools.result import Output
from toolcrib.tools.spec import ToolSpec

_UNKNOWN = (-32601, -32602)


async def call_tool(upstream: Upstream, spec: ToolSpec, call: Call, *, longest: float) -> Output:
    """Always an Output for what the server does. Raises SourceError when it cannot be asked."""
    server = upstream.server
    if isinstance(server, HttpServer) and server.auth is not None:
        await server.auth.token()  # not connected: said at once, and not by the server
    call.secrets.update(private_now(server))
    seconds = min(upstream.server.timeout or longest, call.deadline)
    ask = Ask(
        name=spec.name,
        arguments=call.arguments,
        timeout=seconds,
        progress=None if call.progress is no_progress else call.progress,
        log=None if call.log is no_log else call.log,
        person=call.ask,
        input_schema=spec.input_schema,
    )
    upstream.in_use += 1
    try:
        raw = await with_input(ask, lambda one: _sent(upstream, one, call))
    except Unanswered as error:
        call.exchange.answered = True
        return Output.failed("tool_error", error.message)
    except Refused as refusal:
        return _refused(upstream, refusal, call)
    finally:
        upstream.in_use -= 1
        call.secrets.update(private_now(server))
    call.exchange.answered = True
    if ask.unanswered and raw.get("isError") is True:
        return Output.failed("tool_error", Unanswered(spec.name).message)
    return output_of(raw, _validator(Keyed(spec)), name=spec.name)


async def _sent(upstream: Upstream, ask: Ask, call: Call) -> Mapping[str, Any]:
    try:
        return await _tried(upstream, ask, call)
    except SessionLost:
        return await _tried(upstream, ask, call)
    except HeadersRefused:
        return await _tried(upstream, _marked_anew(upstream, ask), call)
    except SourceUnreachable as error:
        if error.sent is not False or upstream.is_connected:
            raise
    return await _tried(upstream, ask, call)


def _marked_anew(upstream: Upstream, ask: Ask) -> Ask:
    """The list was read again: by now it may mark other arguments to be repeated in headers."""
    spec = upstream.state.tools.specs.get(ask.name)
    return ask if spec is None else replace(ask, input_schema=spec.input_schema)


async def _tried(upstream: Upstream, ask: Ask, call: Call) -> Mapping[str, Any]:
    exchange = call.exchange
    talk = await upstream.conversation()  # a server that cannot be connected to rests by itself
    try:
        raw = await talk.call(ask)
    except Refused:
        exchange.mark_sent()
        raise
    except SessionLost:
        upstream.retire(talk)
        raise
    except HeadersRefused:
        await upstream.refresh()
        raise
    except SourceError as error:
        if error.sent is not False:
            exchange.failing = True
            exchange.mark_sent()
        if isinstance(error, SourceUnreachable):
            upstream.stale()
        raise upstream.masked(error) from None
    except BaseException:
        exchange.mark_sent()
        raise
    exchange.mark_sent()
    return raw


def _refused(upstream: Upstream, refusal: Refused, call: Call) -> Output:
    call.exchange.answered = True
    call.exchange.failing = (refusal.status or 0) >= 500
    if refusal.rpc_code in _UNKNOWN:
        upstream.stale()  # perhaps it does not have the tool any more
    code = "invalid_arguments" if refusal.rpc_code == -32602 else refusal.kind
    return Output.failed(code, upstream.text(refusal.message))


@lru_cache(maxsize=20_000)
def _validator(key: Keyed) -> jsonschema_rs.Validator | None:
    return compiled(key.spec.output_schema)
