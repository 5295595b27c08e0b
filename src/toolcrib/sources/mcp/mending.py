"""This module reads JSON that is nearly JSON: what a server cut through the middle of a character,
or wrote in another encoding. One such letter must not lose an answer, or a whole list."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, Final, cast

import mcp_types as types

from toolcrib.sources.mcp.limits import MOST_IN_BATCH
from toolcrib.sources.mcp.weighing import TooMuch, weighed

_PART: Final = 1024 * 1024
"""Characters that are mended at a time: others get their turn between, where this is a thread."""
_HALF: Final = re.compile("[\ud800-\udfff]")
_SIGN: Final = "\N{REPLACEMENT CHARACTER}"
_BOM: Final = b"\xef\xbb\xbf"
_MAY_BE_HALF: Final = re.compile(rb"\\u[dD][89a-fA-F]")


def messages_of(data: bytes) -> Sequence[types.JSONRPCMessage]:
    """The messages of a line: one, those of a batch, or none where it is no message at all.

    Raises TooMuch.
    """
    if not data.removeprefix(_BOM).lstrip().startswith((b"{", b"[")):
        return ()
    weighed(data)
    try:
        return (types.jsonrpc_message_adapter.validate_json(data, by_name=False),)
    except ValueError:
        pass
    value = _nearly(data)
    given = _batch(cast("list[object]", value)) if isinstance(value, list) else [value]
    found: list[types.JSONRPCMessage] = []
    for one in given:
        try:
            found.append(types.jsonrpc_message_adapter.validate_json(_written(one), by_name=False))
        except ValueError:
            continue
    return found


def _batch(given: list[object]) -> list[object]:
    """What may be a message of it."""
    objects = [cast("dict[str, Any]", one) for one in given if isinstance(one, dict)]
    found: list[object] = [one for one in objects if "jsonrpc" in one]
    if len(found) > MOST_IN_BATCH:
        raise TooMuch(f"The server sent a batch of more than {MOST_IN_BATCH} messages.")
    return found


def mended(data: bytes) -> bytes:
    """The same JSON with a sign for each half character and for bytes that are no UTF-8. What is
    no JSON even so comes back as it is."""
    if not is_suspect(data):
        return data
    value = _nearly(data)
    return data if value is None else _written(value)


def _nearly(data: bytes) -> Any:
    """The object or list in it, as far as it can be read; None for anything else."""
    text = data.decode("utf-8-sig", errors="replace").strip()
    if not text.startswith(("{", "[")):
        return None
    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None


def _written(value: Any) -> bytes:
    text = json.dumps(value, ensure_ascii=False)
    parts = (text[at : at + _PART] for at in range(0, len(text), _PART))
    return "".join(_HALF.sub(_SIGN, part) for part in parts).encode()


def is_suspect(data: bytes) -> bool:
    """Whether there may be something to mend; quick where there is nothing."""
    if _MAY_BE_HALF.search(data):
        return True
    try:
        data.decode()
    except UnicodeDecodeError:
        return True
    return False
