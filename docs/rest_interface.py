"""This module writes the reference page of REST from the description that the server serves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from toolcrib.surfaces.http.paging import MAX_LIMIT
from toolcrib.surfaces.http.places import OPEN_PATHS
from toolcrib.surfaces.http.problems import STATUS
from toolcrib.surfaces.http.serving import rest

Schema = Mapping[str, Any]
PAGING = {"limit", "cursor"}
OPENING = [
    "JSON in and out, and strict: unknown fields, keys that stand twice, NaN and text behind the",
    "value are refused. Times are UTC, ISO 8601; durations are milliseconds.",
    "",
    "- **Who asks**: `Authorization: Bearer TOKEN` (PrimeThink's `Token TOKEN` works too). Without",
    f"  one only {', '.join(f'`{path}`' for path in sorted(OPEN_PATHS))} answer. A super-admin may",
    "  add `X-Toolcrib-User` and `X-Toolcrib-Group` to act for others; whoever belongs to several",
    "  groups names one with `X-Toolcrib-Group`. [Authority](../explanation/authority.md) says who",
    "  may do what.",
    f"- **Lists** answer `{{items, next_cursor}}` and take `?limit=` (1 to {MAX_LIMIT}) and",
    "  `?cursor=`, the `next_cursor` of the page before.",
    "- **Queries** hold the parameters that the request has below, and no others: an unknown one",
    "  is refused with 422, which names it.",
    "- **Repeats** of a call: with an `Idempotency-Key` of your making (up to 255 characters) a",
    "  call runs once. For 24 hours the same request with the same key gets the answer that the",
    "  first one got, with `Idempotent-Replayed: true`; while that one runs it is 409, and another",
    "  request to the tool with the key is 422. Where the server died in between it is 502,",
    "  `outcome_unknown`.",
    "- **Rows** have a `version`, which is their `ETag`. A PATCH with `If-Match` changes that",
    "  version only; another one answers 409 with the `current` row.",
    "- **Errors** are `application/problem+json`: `type`, `title`, `status`, `detail`, `code`, and",
    "  where they help `where` (the place in the request) and `hint`. What lies outside your reach",
    "  answers 404, as if it did not exist.",
    "",
    "The server serves the complete description at `/openapi.json`.",
]


def lines() -> list[str]:
    """The body of the page."""
    whole = rest().openapi()
    shapes = whole["components"]["schemas"]
    found = [*OPENING]
    for noun, rows in _nouns(whole, shapes).items():
        found += ["", f"## {noun.capitalize()}", ""]
        found += ["| Request | Takes | Answers | |", "|---|---|---|---|", *rows]
    found += ["", "## Shapes", ""]
    for name in sorted(name for name in shapes if _is_row(name)):
        found += [f"**{_short(name)}**: {_fields(shapes[name])}", ""]
    return [*found, *_statuses()]


def _nouns(whole: Schema, shapes: Schema) -> dict[str, list[str]]:
    nouns: dict[str, list[str]] = {}
    for path, operations in whole["paths"].items():
        for method, one in operations.items():
            text = " ".join(one.get("description", one["summary"]).split())
            takes = ", ".join(_taken(one, shapes))
            row = f"| `{method.upper()} {path}` | {takes} | {_answer(one)} | {text} |"
            nouns.setdefault(one["tags"][0], []).append(row)
    return nouns


def _taken(one: Schema, shapes: Schema) -> Iterator[str]:
    for media, content in one.get("requestBody", {}).get("content", {}).items():
        schema = _resolved(content["schema"], shapes)
        if "properties" in schema:
            yield _fields(schema) if media == "application/json" else f"form: {_fields(schema)}"
        else:
            yield "a JSON object"
    query = [
        f"`{one['name']}{'' if one['required'] else '?'}`"
        for one in one.get("parameters", [])
        if one["in"] == "query" and one["name"] not in PAGING
    ]
    if query:
        yield f"in the query: {', '.join(query)}"


def _answer(one: Schema) -> str:
    status, answer = next((s, a) for s, a in one["responses"].items() if s[0] in "23")
    schema = next(iter(answer.get("content", {}).values()), {}).get("schema", {})
    name = _short(schema.get("$ref", "").rpartition("/")[2])
    return f"{status} {name}".strip()


def _resolved(schema: Schema, shapes: Schema) -> Schema:
    for branch in (schema, *schema.get("anyOf", [])):
        if "$ref" in branch:
            return shapes[branch["$ref"].rpartition("/")[2]]
    return schema


def _fields(schema: Schema) -> str:
    """The names of a shape's fields; those with a question mark may be left out."""
    needed = set(schema.get("required", ()))
    names = schema.get("properties", {})
    return ", ".join(f"`{name}{'' if name in needed else '?'}`" for name in names)


def _is_row(name: str) -> bool:
    return name.endswith(("Row", "Answer")) and not name.startswith("PageOf")


def _short(name: str) -> str:
    """`PageOf_AgentRow_` is a page of Agent, `AgentRow` is Agent."""
    inner = name.removeprefix("PageOf_").rstrip("_")
    plain = inner.removesuffix("Row").removesuffix("Answer") if _is_row(inner) else inner
    return f"page of {plain}" if name.startswith("PageOf_") else plain


def _statuses() -> list[str]:
    """Which errors answer with which number."""
    by_status: dict[int, list[str]] = {}
    for kind, status in STATUS.items():
        by_status.setdefault(status, []).append(f"`{kind.__name__}`")
    rows = [f"| {status} | {', '.join(kinds)} |" for status, kinds in sorted(by_status.items())]
    return ["## Statuses of errors", "", "| Status | [Errors](errors.md) |", "|---|---|", *rows]
