"""This module asks a search service that speaks Serper's language, with the caller's key."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, cast

from toolcrib.builtin.tool import BuiltIn
from toolcrib.errors import CallFailed, SourceProtocolError

KEY = "SERPER_API_KEY"
"""The setting of a user or group that holds the key."""


async def ask(tool: BuiltIn, path: str, query: str, count: int) -> Mapping[str, Any]:
    """The service's answer to `POST /search` or `/images`.

    Raises SecretMissing without a key, CallFailed for a refusal, and what the connection raises.
    """
    key = await tool.setting(KEY)
    url = tool.lent.addresses["serper"].rstrip("/") + path
    answer = await tool.lent.web.request(
        "POST",
        url,
        headers={"X-API-KEY": key, "Accept": "application/json"},
        content={"q": query, "num": count},
        values=[key],
    )
    if answer.status in {401, 403}:
        raise CallFailed(f"The search service refused the key in the setting {KEY!r}.")
    if not answer.ok:
        raise CallFailed(f"The search service answered HTTP {answer.status}.")
    try:
        found = json.loads(answer.body)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise SourceProtocolError("The search service's answer is not a JSON object.")
    return cast("Mapping[str, Any]", found)


def rows(found: Mapping[str, Any], name: str) -> Sequence[Mapping[str, Any]]:
    """The objects of a list in the answer; whatever else stands there is left out."""
    listed = found.get(name)
    items = cast("list[object]", listed) if isinstance(listed, list) else []
    return [cast("Mapping[str, Any]", item) for item in items if isinstance(item, Mapping)]


def chosen(row: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """Ours ← theirs, of what is there."""
    return {ours: row[theirs] for ours, theirs in names.items() if row.get(theirs) is not None}
