"""This module shows one code of a registry as a Source."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toolcrib.errors import NotFound
from toolcrib.plugin.changes import Bundle as Registered
from toolcrib.sources.native.adapting import Adapters
from toolcrib.sources.native.shelf import bundle_of
from toolcrib.tools.call import Call
from toolcrib.tools.result import Output
from toolcrib.tools.source import Listing, Preview


class NativeSource:
    """The tools that are registered under one code."""

    def __init__(
        self, code: str, registered: Registered, *, adapters: Adapters | None = None
    ) -> None:
        self._code = code
        self._bundle = bundle_of(registered, adapters or Adapters())
        self._offers = {offer.spec.name: offer for offer in reversed(self._bundle.offers)}

    async def list(self) -> Listing:
        return Listing(
            tools=tuple(offer.spec for offer in self._bundle.offers), skipped=self._bundle.skipped
        )

    async def call(self, name: str, call: Call) -> Output:
        """Raises NotFound for a name that the code does not have."""
        offer = self._offers.get(name)
        if offer is None:
            raise NotFound(f"The code {self._code!r} has no tool {name!r}.")
        return await offer.run(call)

    async def preview(self, name: str, arguments: Mapping[str, Any]) -> Preview | None:
        """Python code sends no request that could be shown."""
        return None

    async def close(self) -> None:
        """Nothing is held open."""
