"""This module holds an HTTP tool as its definition describes it: read once, then immutable."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from toolcrib.sources.http.checking import HttpArguments
from toolcrib.sources.http.files import FileField
from toolcrib.sources.http.operation import Draft
from toolcrib.sources.http.rules import Rules
from toolcrib.sources.http.upstreams import upstream_of
from toolcrib.tools.canonical import digest
from toolcrib.tools.provenance import Provenance
from toolcrib.tools.source import Description
from toolcrib.tools.spec import Annotations, ToolSpec

READ_ONLY = frozenset({"GET", "HEAD"})


@dataclass(frozen=True, kw_only=True)
class HttpTool:
    """One tool: its definition for models, its draft for the wire. `timeout` in seconds.

    `needs` are the names that stored values fill; `sentences` say what is wrong where an argument
    is missing that the request cannot be made without.
    """

    spec: ToolSpec
    rules: Rules
    draft: Draft
    code: str
    needs: frozenset[str]
    timeout: float
    files: tuple[FileField, ...] = ()
    sentences: Mapping[str, str]

    @cached_property
    def checker(self) -> HttpArguments:
        return HttpArguments(self.spec.input_schema, self.sentences)

    def describe(self, definition: Mapping[str, Any]) -> Description:
        """The tool before it is opened, with all that its author wrote; one that sends files is
        of no use outside a chat."""
        upstream = upstream_of(self.draft.url, self.rules.language)
        written = {key: value for key, value in definition.items() if key != "code"}
        facts = {"upstream": upstream, "method": self.draft.method, "definition": digest(written)}
        return Description(
            spec=self.spec,
            checker=self.checker,
            needs_chat=bool(self.files),
            upstream=upstream,
            prompt=True,
            provenance=Provenance(facts=facts),
        )

    def given(self, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """The arguments that count as given under the format's rules."""
        if self.rules.null_is_absent and None in arguments.values():
            return {name: value for name, value in arguments.items() if value is not None}
        return arguments


def annotations_of(method: str, title: str | None) -> Annotations:
    """GET and HEAD only read; what another method does, its author may say elsewhere."""
    return Annotations(title=title or None, read_only=method in READ_ONLY, open_world=True)
