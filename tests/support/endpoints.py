"""This module gives an agent REST endpoints as tools, with an upstream on loopback behind them."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.support.crib import Crib, Person, open_crib
from toolcrib.catalog.capabilities import CapabilityDraft
from toolcrib.grants.agents import AgentDraft
from toolcrib.invocation.flight import Outcome
from toolcrib.settings import Settings
from toolcrib.testing.upstream import RecordingUpstream

ONE_TEXT: dict[str, Any] = {"type": "object", "properties": {"q": {"type": "string"}}}


@dataclass(kw_only=True)
class Endpoints:
    """One agent of a super-admin. `api` and `package` add a tool to it; `call` calls one."""

    crib: Crib
    upstream: RecordingUpstream
    root: Person
    agent: int
    held: list[int | str] = field(default_factory=list[int | str])

    async def api(self, name: str, path: str, *, code: str = "", **options: Any) -> None:
        """A tool of an API capability. `path` may be a whole URL."""
        draft = CapabilityDraft(
            name=name,
            code=code or name,
            type="api",
            access_type="user",
            options={"name": name, "url": self._url(path), **options},
        )
        row = await self.crib.desk.capabilities.create(self.root.caller, draft)
        await self._hold(row.id)

    async def package(
        self, slug: str, path: str, *, schema: Mapping[str, Any] | None = None, **config: Any
    ) -> None:
        """A tool of an http package, without arguments unless it has a schema."""
        document = {
            "slug": slug,
            "name": slug,
            "description": "A test's.",
            "type": "http",
            "config": {"url": self._url(path), **config},
            **({} if schema is None else {"input_schema": dict(schema)}),
        }
        await self.crib.desk.packages.install(self.root.caller, document)
        await self._hold(f"installed__{slug}")

    async def call(self, tool: str, timeout: float | None = None, **arguments: Any) -> Outcome:  # noqa: ASYNC109
        return await self.crib.desk.tools.call(
            self.root.caller, self.agent, tool, arguments, timeout=timeout
        )

    async def recorded(self, call_id: str) -> Any:
        """What the journal says of a call."""
        journal = self.crib.platform.storage.journal
        await journal.flush()
        return await journal.find(call_id)

    async def _hold(self, ref: int | str) -> None:
        self.held.append(ref)
        await self.crib.desk.agents.set_capabilities(self.root.caller, self.agent, self.held)

    def _url(self, path: str) -> str:
        return self.upstream.url(path) if path.startswith("/") else path


@asynccontextmanager
async def open_endpoints(
    settings: Settings, *allowed: str, **changes: Any
) -> AsyncGenerator[Endpoints]:
    """`allowed`: places besides the upstream that tools may reach; `changes`: other settings."""
    async with RecordingUpstream() as upstream:
        chosen = settings.model_copy(update={"egress_allow": (upstream.place, *allowed), **changes})
        async with open_crib(chosen) as crib:
            root = await crib.somebody(1)
            draft = AgentDraft(name="endpoints", creator_id=1)
            agent = await crib.desk.agents.create(root.caller, draft)
            yield Endpoints(crib=crib, upstream=upstream, root=root, agent=agent.id)
