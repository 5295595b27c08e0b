"""This module gives each test an upstream that records bytes, and tools that call it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from toolcrib.errors import SecretMissing
from toolcrib.identity.caller import Caller, ChatRef
from toolcrib.net.client import GuardedClient
from toolcrib.net.guard import EgressPolicy
from toolcrib.sources.http.api import ApiKind
from toolcrib.sources.http.files import DocumentReader
from toolcrib.sources.http.packages import PackageKind
from toolcrib.sources.http.source import HttpSource
from toolcrib.testing.upstream import RecordedRequest, RecordingUpstream
from toolcrib.tools.call import Call
from toolcrib.tools.result import Output

_CONNECTIONS = {"host", "user-agent", "accept-encoding", "content-length"}


def a_call(
    arguments: Mapping[str, Any], *, chat: int | None = None, deadline: float = 20.0
) -> Call:
    """A call of user 1, from the chat of that id."""
    ref = ChatRef(id=chat, uuid=f"chat-{chat}") if chat is not None else None
    return Call(
        call_id="call_1",
        arguments=arguments,
        caller=Caller(user_id=1, chat=ref),
        deadline=deadline,
    )


@dataclass(kw_only=True)
class Bench:
    """An upstream on loopback that the operator allows, and both front doors to it."""

    upstream: RecordingUpstream
    client: GuardedClient
    secrets: dict[str, str] = field(default_factory=dict[str, str])

    def url(self, path: str) -> str:
        return self.upstream.url(path)

    async def api(
        self,
        options: Mapping[str, Any],
        settings: Mapping[str, str] | None = None,
        *,
        name: str = "Thing",
        documents: DocumentReader | None = None,
    ) -> HttpSource:
        """An API capability with these options, opened with these settings."""
        definition = {"code": "thing", "name": name, "description": "", "options": options}
        return await ApiKind(self.client, documents).open(definition, settings or {})

    async def package(self, package: Mapping[str, Any]) -> HttpSource:
        """An installed package; its secrets are `self.secrets`."""
        return await PackageKind(self.client, self._secret).open(package, {})

    async def _secret(self, name: str) -> str:
        if name not in self.secrets:
            raise SecretMissing(f"The secret {name!r} has no value.")
        return self.secrets[name]

    async def call(
        self, source: HttpSource, arguments: Mapping[str, Any], *, chat: int | None = None
    ) -> Output:
        return await source.call(source.tool.spec.name, a_call(arguments, chat=chat))

    async def sent(
        self, source: HttpSource, arguments: Mapping[str, Any], *, chat: int | None = None
    ) -> RecordedRequest:
        """The one request that a good call made."""
        before = len(self.upstream.requests)
        output = await self.call(source, arguments, chat=chat)
        assert output.error is None, output.text
        assert len(self.upstream.requests) == before + 1
        return self.upstream.requests[-1]


def headers_of(request: RecordedRequest) -> dict[str, str]:
    """The headers that the definition decides, without those of the connection."""
    return {
        name: value
        for name, value in request.headers
        if name.lower() not in _CONNECTIONS and (name, value) != ("Accept", "*/*")
    }


@pytest.fixture
async def bench() -> AsyncIterator[Bench]:
    async with (
        RecordingUpstream() as upstream,
        GuardedClient(EgressPolicy([upstream.place])) as client,
    ):
        yield Bench(upstream=upstream, client=client)
