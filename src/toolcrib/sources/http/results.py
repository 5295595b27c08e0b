"""This module turns an upstream's answer into an Output: text, structured JSON, or exact bytes."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from typing import Any, Literal

import orjson

from toolcrib.net.response import Response
from toolcrib.sources.http.raws import is_json, is_xml
from toolcrib.sources.http.rules import Rules
from toolcrib.sources.http.words import json_text
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
        "application/x-ndjson",
        "application/jsonl",
        "application/json-seq",
        "application/sql",
        "application/graphql",
        "application/graphql-response",
    }
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Content:
    """An answer's body, read by its media type. Exactly one of `text` and `blob` is there."""

    text: str = ""
    json: Any = None
    is_json: bool = False
    blob: BlobPart | None = None
    truncated: bool = False


def output_of(response: Response, rules: Rules) -> Output:
    """What the model gets. A status that means failure is a failed Output."""
    if rules.result == "status and body":
        return _status_and_body(response)
    if not response.ok:
        return Output.failed("upstream_error", f"API error: HTTP {response.status}")
    if _cut_blob(response):
        return _too_large()
    content = read_content(response)
    if content.blob is not None:
        return Output(parts=(content.blob,))
    return Output(
        parts=(TextPart(content.text),), structured=content.json, truncated=content.truncated
    )


def _status_and_body(response: Response) -> Output:
    status = response.status
    if _cut_blob(response) and status < 300:
        return _too_large()
    content = read_content(response)
    body = content.json if content.is_json else content.text
    shown = {"status": status, "body": None if content.blob else body}
    text = TextPart(json_text(shown))
    return Output(
        parts=(text, content.blob) if content.blob and status < 300 else (text,),
        structured=shown,
        error=_failure(status),
        truncated=content.truncated,
    )


def _failure(status: int) -> Failure | None:
    if status < 300:
        return None
    followed = "" if status >= 400 else ": redirects are not followed"
    return Failure("upstream_error", f"API error: HTTP {status}{followed}")


def _too_large() -> Output:
    return Output.failed(
        "too_large",
        f"API request failed: the file that came back is larger than {READ_LIMIT} bytes",
    )


def read_content(response: Response) -> Content:
    """Read the body by its media type; without one, as text where it is UTF-8."""
    kind = _kind(response)
    if kind is not None:
        return Content(
            blob=BlobPart(
                kind=kind,
                data=response.body,
                mime_type=response.media_type or "application/octet-stream",
                name=_name(response),
            )
        )
    if response.truncated or len(response.body) > TEXT_LIMIT:
        cut = replace(response, body=response.body[:TEXT_LIMIT], truncated=True)
        marker = f"\n[cut: the answer is longer than {TEXT_LIMIT} bytes]"
        return Content(text=cut.text() + marker, truncated=True)
    text = response.text()
    if is_json(response.media_type):
        return _json_content(response, text)
    return Content(text=text)


def _json_content(response: Response, text: str) -> Content:
    body = response.body if response.charset == "utf-8" else text.encode()
    try:
        value = orjson.loads(body.removeprefix(b"\xef\xbb\xbf"))
    except orjson.JSONDecodeError:
        return Content(text=text)
    if _LONG_NUMBER.search(body):
        value = _exact(text, value)
    return Content(text=text, json=value, is_json=True)


def _exact(text: str, value: Any) -> Any:
    """The same value with integers over 64 bits exact."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return value


def _cut_blob(response: Response) -> bool:
    return response.truncated and _kind(response) is not None


def _kind(response: Response) -> Literal["image", "audio", "file"] | None:
    """None for text."""
    media_type = response.media_type
    if not response.body:
        return None
    if media_type.startswith("image/"):
        return "image"
    if media_type.startswith("audio/"):
        return "audio"
    if media_type.startswith("text/") or is_json(media_type) or is_xml(media_type):
        return None
    if media_type in _TEXTUAL or (not media_type and _is_utf8(response)):
        return None
    return "file"


def _is_utf8(response: Response) -> bool:
    try:
        response.body.decode()
    except UnicodeDecodeError as error:
        return response.truncated and error.start > len(response.body) - 4
    return b"\0" not in response.body


def _name(response: Response) -> str | None:
    found = _FILENAME.search(response.headers.get("Content-Disposition", ""))
    return found[1].strip() if found else None
