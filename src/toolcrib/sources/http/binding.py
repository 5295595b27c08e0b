"""This module joins a tool with its stored values: once when it is opened, or for every call."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from toolcrib.errors import SecretMissing, SecretUndecryptable
from toolcrib.secrets.forms import private_forms
from toolcrib.secrets.masking import Masker
from toolcrib.secrets.memory import Kept
from toolcrib.secrets.places import HiddenHost
from toolcrib.sources.http.operation import Operation
from toolcrib.sources.http.slots import Values
from toolcrib.sources.http.tool import HttpTool
from toolcrib.sources.http.upstreams import hidden_host

SecretLookup = Callable[[str], Awaitable[str]]
"""`await secret(name)`: the value, a BoundValue where it is limited to hosts.

Raises SecretMissing or SecretUndecryptable.
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Bound:
    """An operation and the values inside it, with whatever of them must not leave."""

    operation: Operation
    private: frozenset[str]
    masker: Masker
    host: HiddenHost
    """What errors do not tell, where stored values decide where calls go."""

    def __repr__(self) -> str:
        return f"Bound({self.operation.method})"


class Binding(Protocol):
    """Gives the operation of one call."""

    def ready(self) -> Bound | None:
        """The operation, where nothing has to be looked up for it."""
        ...

    async def bound(self) -> Bound: ...

    async def known(self) -> tuple[Mapping[str, str], tuple[str, ...]]:
        """The values that are there, and the names of those that are not: for previews."""
        ...


class FixedBinding:
    """Values that were resolved when the tool was opened.

    Raises UnresolvedPlaceholderError, and InvalidOptions for a URL that comes to nothing.
    """

    def __init__(self, tool: HttpTool, values: Mapping[str, str]) -> None:
        self._values = {name: values[name] for name in sorted(tool.needs) if name in values}
        self._bound = bind(tool, self._values)

    def ready(self) -> Bound:
        return self._bound

    async def bound(self) -> Bound:
        return self._bound

    async def known(self) -> tuple[Mapping[str, str], tuple[str, ...]]:
        return self._values, ()


class CallTimeBinding:
    """Secrets that are looked up when a call needs them; the compiled form is in `kept`."""

    def __init__(self, tool: HttpTool, secret: SecretLookup, kept: Kept[Bound]) -> None:
        self._tool = tool
        self._names = sorted(tool.needs)
        self._secret = secret
        self._kept = kept

    def ready(self) -> Bound | None:
        return self._kept.get(self)

    async def bound(self) -> Bound:
        """Raises SecretMissing or SecretUndecryptable: then nothing may be sent."""
        began = self._kept.now()
        made = bind(self._tool, {name: await self._secret(name) for name in self._names})
        self._kept.put(self, made, made_at=began)
        return made

    async def known(self) -> tuple[Mapping[str, str], tuple[str, ...]]:
        values: dict[str, str] = {}
        missing: list[str] = []
        for name in self._names:
            try:
                value = await self._secret(name)
            except (SecretMissing, SecretUndecryptable):
                value = ""
            if value.strip():
                values[name] = value
            else:
                missing.append(name)
        return values, tuple(missing)


def bind(tool: HttpTool, values: Mapping[str, str]) -> Bound:
    """Raises UnresolvedPlaceholderError or InvalidOptions."""
    operation = tool.draft.bind(Values(values, tool.rules.language))
    private = frozenset(private_forms(values.values()))
    host = hidden_host(tool.draft.url, operation.url.host)
    return Bound(operation=operation, private=private, masker=Masker(private), host=host)
