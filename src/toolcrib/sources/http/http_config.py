"""This module reads the config of an http package: what is sent, and where each argument goes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from toolcrib.errors import InvalidOptions
from toolcrib.sources.http.bodies import BodyDraft, FieldsBody, RawBody, TreeBody
from toolcrib.sources.http.headers import (
    HeaderDraft,
    content_type_draft,
    read_headers,
    warn_of_text,
)
from toolcrib.sources.http.kinds import is_json
from toolcrib.sources.http.problems import Problems
from toolcrib.sources.http.quoting import warn_of_quotes
from toolcrib.sources.http.rules import PACKAGE
from toolcrib.sources.http.slots import Read, Slot, read_text, slot_names
from toolcrib.sources.http.tool import READ_ONLY
from toolcrib.sources.http.trees import all_pieces, read_tree
from toolcrib.sources.http.words import is_array, is_object

_TEMPLATE = "config.body_template"
_STATIC = "config.static_body"


@dataclass(frozen=True, kw_only=True, slots=True)
class HttpConfig:
    """A config, read. `path_slots` are surely in the path; `body_keys` make the body."""

    method: str
    url: Read
    path_slots: tuple[str, ...]
    headers: tuple[HeaderDraft, ...]
    timeout: float
    query_fields: tuple[str, ...] = ()
    body: BodyDraft | None = None
    body_keys: frozenset[str] = frozenset()

    @property
    def url_slots(self) -> tuple[str, ...]:
        return slot_names(self.url)


def read_config(given: object, names: Sequence[str], problems: Problems) -> HttpConfig | None:
    """`names` are the declared arguments. None when no request could be made of it."""
    if not is_object(given):
        problems.error("config", "The config is missing: it must be an object.")
        return None
    url = given.get("url")
    if not isinstance(url, str) or not url.strip():
        problems.error("config.url", "The url is missing.")
        return None
    pieces = read_text(url.strip(), PACKAGE.language, known=names)
    _require_declared(url, names, problems)
    method = _method(given.get("method"), problems)
    headers = read_headers(given.get("headers"), PACKAGE.language, problems, "config.headers")
    left = tuple(name for name in names if name not in slot_names(pieces))
    reads = method in READ_ONLY
    body, keys = (None, frozenset[str]()) if reads else _body(given, names, left, headers, problems)
    if reads:
        _warn_unsent(given, method, problems)
    return HttpConfig(
        method=method,
        url=pieces,
        path_slots=_path_slots(pieces),
        headers=headers,
        timeout=_timeout(given.get("timeout"), problems),
        query_fields=left if reads else (),
        body=body,
        body_keys=keys,
    )


def _require_declared(url: str, names: Sequence[str], problems: Problems) -> None:
    for name in slot_names(read_text(url, PACKAGE.language)):
        if name not in names:
            problems.error("config.url", f"{{{name}}} is not declared in input_schema.properties.")


def _path_slots(pieces: Read) -> tuple[str, ...]:
    """The slots before the first `?` that the author wrote."""
    found: list[object] = []
    for piece in pieces:
        if isinstance(piece, str) and "?" in piece:
            break
        found.append(piece)
    return slot_names(found)


def _method(given: object, problems: Problems) -> str:
    method = "GET" if given is None else given
    if isinstance(method, str) and method.strip().upper() in PACKAGE.methods:
        return method.strip().upper()
    problems.error(
        "config.method",
        f"The method {given!r} cannot be used: one of {', '.join(PACKAGE.methods)}.",
    )
    return "GET"


def _timeout(given: object, problems: Problems) -> float:
    if given is None:
        return PACKAGE.timeout
    number = given if isinstance(given, int | float) and not isinstance(given, bool) else 0
    if 1 <= number <= PACKAGE.longest_timeout:
        return float(number)
    problems.error(
        "config.timeout", f"Must be from 1 to {PACKAGE.longest_timeout:g} seconds, not {given!r}."
    )
    return PACKAGE.timeout


def _warn_unsent(config: Mapping[str, Any], method: str, problems: Problems) -> None:
    for key in ("static_body", "body_template"):
        if config.get(key) is not None:
            problems.warn(f"config.{key}", f"Not sent: a {method} request has no body.")


def _body(
    config: Mapping[str, Any],
    names: Sequence[str],
    left: Sequence[str],
    headers: Sequence[HeaderDraft],
    problems: Problems,
) -> tuple[BodyDraft | None, frozenset[str]]:
    """The body's draft, and the keys of the config that it is made of."""
    template, fixed = config.get("body_template"), config.get("static_body")
    if fixed is not None and not is_object(fixed):
        problems.error(_STATIC, "Must be an object: its members go on top of the arguments.")
        fixed = None
    tree = _read(fixed or {}, (), _STATIC, problems)
    if isinstance(template, str):
        pieces = read_text(template, PACKAGE.language, known=names)
        _warn_unused(left, pieces, problems)
        _warn_undeclared(read_text(template, PACKAGE.language), names, problems)
        if fixed:
            problems.warn(_STATIC, "Not sent: body_template is text.")
        warn_of_text(pieces, headers, problems, _TEMPLATE)
        return RawBody(pieces=pieces, where=_TEMPLATE), frozenset({"body_template"})
    if is_object(template) or is_array(template):
        filled = _read(template, names, _TEMPLATE, problems)
        _warn_unused(left, all_pieces(filled), problems)
        _warn_undeclared(all_pieces(_read(template, None, _TEMPLATE, Problems())), names, problems)
        warn_of_quotes(filled, problems)
        if fixed and is_array(template):
            problems.warn(_STATIC, "Not sent: body_template is a list.")
        return TreeBody(tree=filled, fixed=tree), frozenset({"body_template", "static_body"})
    if template is not None:
        problems.error(_TEMPLATE, "Must be an object, a list or a text.")
    return _fields_body(left, fixed, tree, headers, problems)


def _fields_body(
    left: Sequence[str],
    fixed: Mapping[str, Any] | None,
    tree: Any,
    headers: Sequence[HeaderDraft],
    problems: Problems,
) -> tuple[BodyDraft | None, frozenset[str]]:
    if not left and fixed is None:
        return None, frozenset()
    kind = content_type_draft(headers)
    typed = kind is not None and is_json(kind.written)
    if len({*left, *(fixed or {})}) == 1 and not typed:
        problems.warn(
            "config",
            "A body of one text field is sent as that text; "
            "the header Content-Type: application/json makes it an object.",
        )
    body = FieldsBody(fields={name: name for name in left}, fixed=tree, raw_single=True)
    return body, frozenset({"static_body"})


def _read(value: Any, names: Sequence[str] | None, where: str, problems: Problems) -> Any:
    try:
        return read_tree(value, lambda text: read_text(text, PACKAGE.language, known=names), where)
    except InvalidOptions as error:
        problems.caught(error, where)
        return {}


def _warn_unused(left: Sequence[str], pieces: Sequence[object], problems: Problems) -> None:
    used = {piece.name for piece in pieces if isinstance(piece, Slot)}
    for name in left:
        if name not in used:
            problems.warn(
                f"input_schema.properties.{name}", "No slot sends it: not in url or body_template."
            )


def _warn_undeclared(pieces: Sequence[object], names: Sequence[str], problems: Problems) -> None:
    """Braces around a word that is no argument: a slip more often than meant."""
    for name in slot_names(pieces):
        if name not in names:
            problems.warn(
                _TEMPLATE,
                f"{{{name}}} is not in input_schema.properties and is sent as it is written.",
            )
