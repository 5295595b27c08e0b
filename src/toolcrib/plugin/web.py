"""This module sends the requests of tools through the guard, and holds values to their hosts."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from toolcrib.errors import EgressBlocked
from toolcrib.net.client import DEFAULT_LIMIT, DEFAULT_TIMEOUT, GuardedClient
from toolcrib.net.response import Response
from toolcrib.plugin.home import Home
from toolcrib.secrets.binding import hosts_of, may_go_to
from toolcrib.tools.call import current_call

_PORTS = {"https": 443, "http": 80}


@dataclass(frozen=True, slots=True)
class Web:
    """The guarded client, in the loop that it belongs to, with the running call's bookkeeping."""

    client: GuardedClient
    home: Home

    async def request(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        content: Any = None,
        values: Sequence[str] = (),
        timeout: float = DEFAULT_TIMEOUT,  # noqa: ASYNC109 - the request's own deadline
        limit: int = DEFAULT_LIMIT,
        follow_redirects: bool = False,
    ) -> Response:
        """Send, and read at most `limit` bytes within `timeout` seconds; any status is an answer.

        `content` is sent as JSON. `values` are settings that the request carries: one that is
        limited to hosts goes nowhere else. Raises EgressBlocked, SourceUnreachable, SourceTimeout,
        SourceProtocolError, InvalidRequest.
        """
        _hold(values, url)
        body = None if content is None else json.dumps(content).encode()
        sent = {**({} if body is None else {"Content-Type": "application/json"}), **(headers or {})}
        call = current_call.get()
        seconds = timeout if call is None else min(timeout, call.deadline)
        answer = await self.home.run(
            lambda: self.client.request(
                method,
                url,
                headers=sent,
                body=body,
                timeout=seconds,
                limit=limit,
                follow_redirects=follow_redirects,
                credentials=bool(values),
                on_sent=None if call is None else call.exchange.mark_sent,
            )
        )
        if call is not None:
            call.exchange.answered = True
        return answer


def _hold(values: Sequence[str], url: str) -> None:
    """Raises EgressBlocked for a value that may not go where the address points."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port or _PORTS.get(parts.scheme, 0)
    except ValueError:
        return  # the client says what is wrong with it
    for value in values:
        if not may_go_to(hosts_of(value), host, port):
            raise EgressBlocked(
                f"A setting that this request needs may go to {', '.join(hosts_of(value))} only, "
                f"not to {host!r}.",
                sent=False,
            )
