"""This module reads the options of an API capability; what cannot be used becomes a problem."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from toolcrib.errors import InvalidOptions
from toolcrib.secrets.placeholders import joined
from toolcrib.sources.http.api_rejections import ROOT, reject
from toolcrib.sources.http.fields import Field, read_fields, read_files
from toolcrib.sources.http.files import FileField
from toolcrib.sources.http.headers import (
    HeaderDraft,
    content_type_draft,
    read_headers,
    warn_of_text,
)
from toolcrib.sources.http.problems import Problems
from toolcrib.sources.http.quoting import warn_of_quotes
from toolcrib.sources.http.rules import API
from toolcrib.sources.http.slots import Read, placeholder_names, read_text, slot_names
from toolcrib.sources.http.trees import all_pieces, read_tree
from toolcrib.tools.dotted import expand_dotted

OPTIONS = frozenset(
    {
        "url",
        "name",
        "description",
        "method",
        "path_params",
        "params",
        "body",
        "body_template",
        "body_params",
        "files",
        "headers",
    }
)


@dataclass(frozen=True, kw_only=True, slots=True)
class ApiOptions:
    """Options, read. `tree` or `raw` is the body template, by its form."""

    name: str | None
    description: str
    method: str
    url: Read
    headers: tuple[HeaderDraft, ...]
    path_params: Mapping[str, Field] = field(default_factory=dict[str, Field])
    params: Mapping[str, Field] = field(default_factory=dict[str, Field])
    body: Mapping[str, Field] | None = None
    body_params: Mapping[str, Field] = field(default_factory=dict[str, Field])
    tree: Any = None
    raw: Read | None = None
    files: tuple[FileField, ...] = ()

    @property
    def url_slots(self) -> tuple[str, ...]:
        return slot_names(self.url)

    @property
    def body_slots(self) -> tuple[str, ...]:
        if self.raw is not None:
            return slot_names(self.raw)
        return slot_names(all_pieces(self.tree))

    @property
    def needs(self) -> frozenset[str]:
        """The settings that url, headers and body_template name."""
        names = placeholder_names((*self.url, *(self.raw or ()), *all_pieces(self.tree)))
        return names.union(*(header.value.names for header in self.headers))

    @property
    def slot_fields(self) -> dict[str, Field]:
        """Every slot's field; one that is declared nowhere is a required string."""
        declared = {**self.body_params, **self.path_params}
        names = dict.fromkeys((*self.url_slots, *self.body_slots))
        return {name: declared.get(name, Field(name=name)) for name in names}


def read_options(given: object, problems: Problems) -> ApiOptions | None:
    """None when nothing could be made of them; the problems say why."""
    if not isinstance(given, Mapping):
        problems.error(ROOT, "Options must be an object with at least a url.")
        return None
    try:
        options = expand_dotted(given, where=ROOT)  # pyright: ignore[reportUnknownArgumentType]
    except InvalidOptions as error:
        problems.caught(error, ROOT)
        return None
    for key in options:
        if key not in OPTIONS:
            problems.warn(joined(ROOT, key), f"{key!r} is not an option and is ignored.")
    read = _read(options, problems)
    if read is not None:
        reject(options, read, problems)
    return read


def _read(options: Mapping[str, Any], problems: Problems) -> ApiOptions | None:
    url = options.get("url")
    if not isinstance(url, str) or not url.strip():
        problems.error("options.url", "The url is missing.")
        return None
    template = options.get("body_template")
    tree, raw = _template(template, problems)
    body = options.get("body")
    return ApiOptions(
        name=_optional_text(options, "name", problems),
        description=(_optional_text(options, "description", problems) or "").strip(),
        method=_method(options.get("method"), problems),
        url=read_text(url.strip(), API.language),
        headers=_headers(options, problems),
        path_params=read_fields(options.get("path_params"), problems, "options.path_params"),
        params=read_fields(options.get("params"), problems, "options.params"),
        body=None if body is None else read_fields(body, problems, "options.body"),
        body_params=read_fields(options.get("body_params"), problems, "options.body_params"),
        tree=tree,
        raw=raw,
        files=read_files(options.get("files"), problems, "options.files"),
    )


def _method(given: object, problems: Problems) -> str:
    method = "GET" if given is None else given
    if isinstance(method, str) and method.strip().upper() in API.methods:
        return method.strip().upper()
    problems.error(
        "options.method", f"The method {given!r} cannot be used: only {', '.join(API.methods)}."
    )
    return "GET"


def _template(template: object, problems: Problems) -> tuple[Any, Read | None]:
    where = "options.body_template"
    if template is None:
        return None, None
    if isinstance(template, str):
        return None, read_text(template, API.language)
    if isinstance(template, Mapping | list):
        try:
            tree = read_tree(template, lambda text: read_text(text, API.language), where)
        except InvalidOptions as error:
            problems.caught(error, where)
            return None, None
        warn_of_quotes(tree, problems)
        return tree, None
    problems.error(where, "Must be an object, a list or a text.")
    return None, None


def _headers(options: Mapping[str, Any], problems: Problems) -> tuple[HeaderDraft, ...]:
    headers = read_headers(options.get("headers"), API.language, problems, "options.headers")
    kind = content_type_draft(headers)
    if options.get("files") is not None and kind is not None:
        problems.warn(kind.where, "Content-Type is set by the upload itself; this one is left out.")
        return tuple(header for header in headers if header is not kind)
    template = options.get("body_template")
    if isinstance(template, str):
        pieces = read_text(template, API.language)
        warn_of_text(pieces, headers, problems, "options.body_template")
    return headers


def _optional_text(options: Mapping[str, Any], key: str, problems: Problems) -> str | None:
    value = options.get(key)
    if value is not None and not isinstance(value, str):
        problems.error(f"{ROOT}.{key}", "Must be text.")
        return None
    return value
