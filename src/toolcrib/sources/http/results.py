"""This module turns an upstream's answer into an Output: text, structured JSON, or exact bytes."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from functools import lru_cache
from typing import Any, Literal

import orjson

from toolcrib.net.response import Response
from toolcrib.secrets.masking import Masker
from toolcrib.sources.http.kinds import is_json, is_json_lines, is_xml, media_type
from toolcrib.sources.http.rules import Rules
from toolcrib.sources.http.words import json_text
from toolcrib.tools.record import record
from toolcrib.tools.result import BlobPart, Failure, Output, TextPart

READ_LIMIT = 8 * 1024 * 1024
"""How many bytes of an answer are read; a file or picture over it is a failure, never a half."""

TEXT_LIMIT = 1024 * 1024
"""How many bytes of a text are kept; the rest is cut and said so."""

_LONG_NUMBER = re.compile(rb"\d{19}")
_FILENAME = re.compile(r'filename="?([^";\r\n]+)"?', re.IGNORECASE)
_TEXTUAL = frozenset(
    {
        "application/x-www-form-urlencoded",
        "application/javascript",
        "application/x-javascript",
        "application/ecmascript",
        "application/yaml",
        "application/x-yaml",
        "application/toml",
        "application/sql",
        "application/graphql",
        "application/graphql-response",
    }
)


Shape = Literal["json", "text", "image", "audio", "file", "unknown"]


@record
class Content:
    """An answer's body, read by its media type. Exactly one of `text` and `blob` is there."""

    text: str = ""
    json: Any = None
    is_json: bool = False
    blob: BlobPart | None = None
    truncated: bool = False
    searched: bool = False
    """No value that was used for the call is in it."""


_NOBODY = Masker(())


def output_of(response: Response, rules: Rules, masker: Masker = _NOBODY) -> Output:
    """What the model gets. A status that means failure is a failed Output.

    Whoever passes it on masks it, unless it says that it was searched; where a text is cut, no half
    of a value may stay.
    """
    status = response.status
    failed = status >= 300 or status < 200
    if failed and rules.result == "body":
        return Output.failed("upstream_error", f"API error: HTTP {status}")
    content = read_content(response, masker)
    if content.blob is not None and response.truncated and not failed:
        return Output.failed(
            "too_large",
            f"API request failed: the file that came back is larger than {READ_LIMIT} bytes",
        )
    if rules.result == "body":
        return Output(
            parts=(content.blob or TextPart(content.text),),
            structured=content.json,
            truncated=content.truncated,
            searched=content.searched,
        )
    return _status_and_body(status, content, failed=failed)


def _status_and_body(status: int, content: Content, *, failed: bool) -> Output:
    body = content.json if content.is_json else content.text
    shown = {"status": status, "body": None if content.blob else body}
    text = TextPart(json_text(shown))
    followed = "" if status >= 400 else ": redirects are not followed"
    return Output(
        parts=(text, content.blob) if content.blob and not failed else (text,),
        structured=shown,
        error=Failure("upstream_error", f"API error: HTTP {status}{followed}") if failed else None,
        truncated=content.truncated,
        searched=content.searched,
    )


def read_content(response: Response, masker: Masker = _NOBODY) -> Content:
    """Read the body by its media type; without one, as text where it is UTF-8."""
    body = response.body
    if not body:
        return Content()
    shape = shape_of(response.headers.get("Content-Type", ""))
    if shape == "unknown":
        shape = "text" if _is_utf8(response) else "file"
    if shape not in {"json", "text"}:
        return Content(blob=_blob(response, shape, masker))
    if response.truncated or len(body) > TEXT_LIMIT:
        return _cut_text(response, masker)
    text = response.text()
    searched = response.charset == "utf-8" and masker.misses(body)
    if shape == "text":
        return Content(text=text, searched=searched)
    return _json_content(body, text, searched=searched)


def _cut_text(response: Response, masker: Masker) -> Content:
    """The beginning of a text. Values are masked first: a mask does not find half a value."""
    window = TEXT_LIMIT + 4 * masker.reach
    text = replace(response, body=response.body[:window], truncated=True).text()
    if masker:
        text = masker.text(text)[: -masker.reach]  # the window itself may end inside a value
    text = text.encode(errors="replace")[:TEXT_LIMIT].decode(errors="ignore")
    marker = f"\n[cut: the answer is longer than {TEXT_LIMIT} bytes]"
    return Content(text=text + marker, truncated=True)


@lru_cache(maxsize=1024)
def shape_of(content_type: str) -> Shape:
    """What a body of this Content-Type is to a model."""
    kind = media_type(content_type)
    if kind.startswith("image/"):
        return "image"
    if kind.startswith("audio/"):
        return "audio"
    if is_json_lines(kind):
        return "text"
    if is_json(kind):
        return "json"
    if kind.startswith("text/") or is_xml(kind) or kind in _TEXTUAL:
        return "text"
    return "file" if kind else "unknown"


def _json_content(body: bytes, text: str, *, searched: bool) -> Content:
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        return Content(text=text, searched=searched)
    if len(body) >= 19 and _LONG_NUMBER.search(body):
        value = _exact(text, value)
    return Content(text=text, json=value, is_json=True, searched=searched)


def _exact(text: str, value: Any) -> Any:
    """The same value with integers over 64 bits exact."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return value


def _blob(response: Response, shape: str, masker: Masker) -> BlobPart:
    """Headers are searched whole: half a value, or one in other letters, is not found later."""
    kind: Literal["image", "audio", "file"] = "file"
    if shape in {"image", "audio"}:
        kind = "image" if shape == "image" else "audio"
    found = _FILENAME.search(masker.text(response.headers.get("Content-Disposition", "")))
    content_type = response.headers.get("Content-Type", "")
    told = response.media_type if masker.text(content_type) == content_type else ""
    return BlobPart(
        kind=kind,
        data=response.body,
        mime_type=told or "application/octet-stream",
        name=found[1].strip() if found else None,
    )


def _is_utf8(response: Response) -> bool:
    try:
        response.body.decode()
    except UnicodeDecodeError as error:
        return response.truncated and error.start > len(response.body) - 4
    return b"\0" not in response.body
