"""This module is the front door for API capabilities: rows of type `api`.

A definition is `{code, name, description, options}`, the capability's own fields. Its `${NAME}`
placeholders are filled when it is opened for a user and group.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from toolcrib.errors import InvalidArguments, InvalidOptions
from toolcrib.sources.http.api_options import ROOT, ApiOptions, read_options
from toolcrib.sources.http.binding import FixedBinding
from toolcrib.sources.http.bodies import BodyDraft, FieldsBody, MultipartBody, RawBody, TreeBody
from toolcrib.sources.http.checking import missing_parameter
from toolcrib.sources.http.files import DocumentReader, missing_file
from toolcrib.sources.http.operation import Draft
from toolcrib.sources.http.problems import Problems
from toolcrib.sources.http.rules import API
from toolcrib.sources.http.segments import SegmentRules
from toolcrib.sources.http.sending import Sender
from toolcrib.sources.http.source import HttpSource
from toolcrib.sources.http.styles import plain
from toolcrib.sources.http.tool import HttpTool, annotations_of
from toolcrib.sources.http.trials import try_draft
from toolcrib.tools.source import Description, Finding, KindName, Needs
from toolcrib.tools.spec import ToolSpec

_NAME = re.compile(r"[A-Za-z0-9_]{1,64}", re.ASCII)


class ApiKind:
    """SourceKind of API capabilities. One sender serves the process."""

    name: KindName = "api"

    def __init__(self, sender: Sender, documents: DocumentReader | None = None) -> None:
        self._sender = sender
        self._documents = documents

    def check(self, definition: Mapping[str, Any]) -> Sequence[Finding]:
        """Everything that is wrong or odd, with paths such as `options.body_params.x`."""
        problems = Problems()
        tool = read_api(definition, problems)
        if tool is not None and not problems.errors:
            try_draft(tool.draft, tool.needs, API.language, self._sender, problems)
        return problems.findings

    def needs(self, definition: Mapping[str, Any]) -> Needs:
        tool = read_api(definition, Problems())
        return Needs(settings=tool.needs if tool else frozenset())

    def describe(self, definition: Mapping[str, Any]) -> Sequence[Description]:
        """The one tool of a definition. Raises InvalidOptions."""
        return (_required(definition).describe(definition),)

    async def open(self, definition: Mapping[str, Any], values: Mapping[str, str]) -> HttpSource:
        """Raises InvalidOptions, or UnresolvedPlaceholderError that names the setting."""
        tool = _required(definition)
        return HttpSource(
            tool=tool,
            binding=FixedBinding(tool, values),
            sender=self._sender,
            documents=self._documents,
        )


def _required(definition: Mapping[str, Any]) -> HttpTool:
    problems = Problems()
    tool = read_api(definition, problems)
    problems.raise_first()
    if tool is None:
        raise InvalidOptions("The options cannot be used.", where=ROOT)
    return tool


def read_api(definition: Mapping[str, Any], problems: Problems) -> HttpTool | None:
    """The tool that a definition describes; None with problems where it describes none."""
    options = read_options(definition.get("options"), problems)
    if options is None:
        return None
    name = _tool_name(options.name, str(definition.get("name") or ""), problems)
    description = options.description or str(definition.get("description") or "").strip()
    fields = options.slot_fields
    required = frozenset(n for n, f in fields.items() if f.required and n in options.url_slots)
    draft = Draft(
        method=options.method,
        url=options.url,
        url_where="options.url",
        segments=SegmentRules(required=required, query_required=required, missing=_missing),
        query=tuple(plain(field, field, drop_empty=True) for field in options.params),
        headers=options.headers,
        body=_body(options),
    )
    spec = ToolSpec(
        name=name,
        description=description or f"Call the {name} API",
        input_schema=_input_schema(options),
        annotations=annotations_of(options.method, str(definition.get("name") or "")),
    )
    return HttpTool(
        spec=spec,
        rules=API,
        draft=draft,
        code=str(definition.get("code") or ""),
        needs=options.needs,
        timeout=API.timeout,
        files=options.files,
        sentences={n: missing_parameter(n) for n in fields if n in required}
        | {f.name: missing_file(f.name) for f in options.files if f.required},
    )


def slug_of(name: str) -> str:
    """The tool's name that a capability's name gives: `Open-Meteo Weather` → open_meteo_weather."""
    slug = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")[:63].rstrip("_")
    return f"_{slug}" if slug[:1].isdigit() else slug


def _tool_name(given: str | None, capability: str, problems: Problems) -> str:
    if given is not None and given.strip():
        if _NAME.fullmatch(given.strip()):
            return given.strip()
        problems.error(
            "options.name",
            f"{given!r} is not a tool's name: letters, digits and underscores, at most 64.",
        )
        return "tool"
    slug = slug_of(capability)
    if not slug:
        problems.error("options.name", "The name is missing, and the capability's name gives none.")
    return slug or "tool"


def _missing(name: str) -> InvalidArguments:
    return InvalidArguments(missing_parameter(name))


def _body(options: ApiOptions) -> BodyDraft | None:
    if options.files:
        return MultipartBody(fields={name: name for name in options.body or ()})
    if options.raw is not None:
        return RawBody(pieces=options.raw, where="options.body_template")
    if options.tree is not None:
        return TreeBody(tree=options.tree)
    if options.body is not None:
        return FieldsBody(fields={name: name for name in options.body}, drops_empty=True)
    return None


def _input_schema(options: ApiOptions) -> dict[str, Any]:
    slots = options.slot_fields
    in_url = [slots[name] for name in options.url_slots]
    in_body = [slots[name] for name in options.body_slots if name not in options.url_slots]
    fields = [*in_url, *options.params.values(), *(options.body or {}).values(), *in_body]
    properties = {f.name: f.schema() for f in (*fields, *options.files)}
    return {
        "type": "object",
        "properties": properties,
        "required": [f.name for f in (*fields, *options.files) if f.required],
        "additionalProperties": False,
    }
