"""This module writes a multipart/form-data body: text fields first, then files, byte exact."""

from __future__ import annotations

import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass

_MEDIA_TYPE = re.compile(r"[\w!#$&^.+-]+/[\w!#$&^.+-]+(;[\x20-\x7e]*)?", re.ASCII)
_ESCAPES = str.maketrans({'"': "%22"} | {chr(n): f"%{n:02X}" for n in (*range(32), 127)})


@dataclass(frozen=True, kw_only=True, slots=True)
class FilePart:
    """One file of a field."""

    field: str
    filename: str
    mime_type: str
    data: bytes


def write_multipart(
    fields: Sequence[tuple[str, str]], files: Sequence[FilePart]
) -> tuple[bytes, str]:
    """`(body, content type)`. Names are escaped as browsers do it; none has a control character."""
    boundary = f"toolcrib-{secrets.token_hex(16)}"
    pieces: list[bytes] = []
    for name, text in fields:
        pieces += [_head(boundary, _disposition(name)), text.encode(), b"\r\n"]
    for part in files:
        mime = part.mime_type if _MEDIA_TYPE.fullmatch(part.mime_type) else _UNKNOWN
        lines = f'{_disposition(part.field)}; filename="{_quoted(part.filename)}"'
        pieces += [_head(boundary, f"{lines}\r\nContent-Type: {mime}"), part.data, b"\r\n"]
    pieces.append(f"--{boundary}--\r\n".encode())
    return b"".join(pieces), f"multipart/form-data; boundary={boundary}"


_UNKNOWN = "application/octet-stream"


def _head(boundary: str, lines: str) -> bytes:
    return f"--{boundary}\r\n{lines}\r\n\r\n".encode()


def _disposition(name: str) -> str:
    return f'Content-Disposition: form-data; name="{_quoted(name)}"'


def _quoted(text: str) -> str:
    return text.translate(_ESCAPES)
