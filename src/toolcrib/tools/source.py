"""This module holds the two ports of everything that has tools: SourceKind and Source."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from toolcrib.tools.call import Call
from toolcrib.tools.provenance import Provenance
from toolcrib.tools.result import Output
from toolcrib.tools.spec import ToolSpec

KindName = Literal["native", "api", "package", "openapi", "mcp"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """Something a definition's author should know. `where` is the path inside the document."""

    where: str
    message: str
    severity: Literal["error", "warning"] = "error"


@dataclass(frozen=True, kw_only=True, slots=True)
class Needs:
    """The names that a definition wants filled: settings (`${NAME}`) and secrets (`{{NAME}}`)."""

    settings: frozenset[str] = frozenset()
    secrets: frozenset[str] = frozenset()


@dataclass(frozen=True, kw_only=True, slots=True)
class Preview:
    """The exact request that a call would send, masked, with the egress guard's verdict."""

    request: Mapping[str, Any]
    egress: Mapping[str, Any]
    missing: Sequence[str] = ()
    place_is_stored: bool = False
    """The definition names a stored value in the place of the host, not the host."""
    group_id: int | None = None
    """The group whose values fill the definition; None: the caller's own do."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Skip:
    """Why something is not there, and what would bring it back."""

    ref: str
    reason: str
    fix: str = ""
    brief: str = ""
    """The reason for a model, where `reason` may quote somebody else: our words alone."""

    def as_json(self) -> dict[str, str]:
        return {"ref": self.ref, "reason": self.reason, "fix": self.fix}


@dataclass(frozen=True, kw_only=True, slots=True)
class Listing:
    """What a source has, and what it could not offer."""

    tools: Sequence[ToolSpec]
    skipped: Sequence[Skip] = field(default_factory=tuple)


class Source(Protocol):
    """One open place that has tools: a plugin's bundle, an endpoint, a server."""

    async def list(self) -> Listing: ...

    async def call(self, name: str, call: Call) -> Output:
        """Run the tool that the source itself names `name`.

        Raises ToolcribError for what went wrong outside the tool; a tool's own failure is a
        failed Output.
        """
        ...

    async def preview(self, name: str, arguments: Mapping[str, Any]) -> Preview | None:
        """None where a call sends no request that could be shown."""
        ...

    async def close(self) -> None: ...


class Checker(Protocol):
    """Checks a call's arguments against what its tool takes."""

    @property
    def schema(self) -> Mapping[str, Any]:
        """The JSON Schema that a model is shown."""
        ...

    def check(self, arguments: object) -> dict[str, Any]:
        """The arguments as the tool gets them. Raises InvalidArguments with the place."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Description:
    """A tool as its definition describes it, before anything is opened."""

    spec: ToolSpec
    checker: Checker | None = None
    """The source's own check, where it has words of its own; None: by the schema alone."""
    needs_chat: bool = False
    upstream: str | None = None
    """`host:port` that its calls go to, perhaps with placeholders; None: there is no such one."""
    prompt: bool = False
    """Its calls end by their deadline and at once when they are cancelled, and change no context:
    nobody need guard against them."""
    provenance: Provenance | None = None
    """What else its author decided: where calls go, and a digest of all that is not shown."""


class SourceKind(Protocol):
    """How definitions of one kind become Sources. No stage knows a concrete kind."""

    name: KindName

    def check(self, definition: Mapping[str, Any]) -> Sequence[Finding]: ...

    def needs(self, definition: Mapping[str, Any]) -> Needs: ...

    def describe(self, definition: Mapping[str, Any]) -> Sequence[Description]:
        """The tools that a checked definition brings. Raises InvalidOptions for one that is bad."""
        ...

    async def open(self, definition: Mapping[str, Any], values: Mapping[str, str]) -> Source: ...


def ref(kind: KindName, code: str, name: str) -> str:
    """`<kind>:<code>/<original tool name>`."""
    return f"{kind}:{code}/{name}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Hold:
    """Why a tool that is there must not be shown or called."""

    reason: str
    fix: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Offer:
    """One tool that can be called: its definition and its own call path, never a name to split."""

    spec: ToolSpec
    run: Callable[[Call], Awaitable[Output]]
    origin: str = ""
    """Who brought it: a distribution, a package, a server; for people."""
    checker: Checker | None = None
    """None: arguments are checked by the schema alone."""
    preview: Callable[[Mapping[str, Any]], Awaitable[Preview | None]] | None = None
    """Shows what a call would send; None where there is nothing to show."""
    upstream: str | None = None
    """What calls depend on, together with all others that name the same; None: nothing."""
    prompt: bool = False
    """`run` ends by the deadline and at once when it is cancelled, and changes no context."""
    original: object = field(default=None, repr=False)
    """The Python object that it was made of, for a surface that shows such objects as they are."""
    provenance: Provenance | None = None
    """What stands behind it, where that is more than its spec tells."""
    hold: Hold | None = None
    """Set on a tool whose definition must be accepted first."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Bundle:
    """The tools behind one code, in their order, and what could not be offered."""

    code: str
    kind: KindName
    name: str = ""
    description: str = ""
    offers: Sequence[Offer] = ()
    skipped: Sequence[Skip] = ()
    delegations: Sequence[Mapping[str, Any]] = ()
    """The same tools in the form that a model's vendor connects with, without any secret."""
    version: int | None = None
    """Of the stored row that the tools are defined by, where there is one."""
