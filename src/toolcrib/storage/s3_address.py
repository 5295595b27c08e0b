"""This module reads the address of a bucket for documents: `s3://bucket/prefix?endpoint=…`."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from toolcrib.errors import InvalidSettings

SETTING = "TOOLCRIB_DOCUMENTS_URL"
_BUCKET = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]", re.ASCII)
_HINT = (
    "Write s3://BUCKET/PREFIX?region=eu-central-1, with &endpoint=https://HOST for other stores."
)


@dataclass(frozen=True, kw_only=True, slots=True)
class S3Address:
    """Where the bucket is. Without `endpoint` it is at AWS; `str()` hides the credentials."""

    bucket: str
    prefix: str = ""
    endpoint: str | None = None
    region: str | None = None
    key_id: str | None = None
    secret: str | None = field(default=None, repr=False)

    @classmethod
    def of(cls, text: str) -> S3Address:
        """Raises InvalidSettings; the message never shows a credential."""
        parts = _parts(text)
        bucket = parts.netloc.rpartition("@")[2]
        if not _BUCKET.fullmatch(bucket):
            raise InvalidSettings(f"{bucket!r} cannot be a bucket.", where=SETTING, hint=_HINT)
        options = dict(parse_qsl(parts.query, keep_blank_values=True))
        for name in options.keys() - {"endpoint", "region"}:
            raise InvalidSettings(f"{name!r} is not an option.", where=SETTING, hint=_HINT)
        key_id, secret = _credentials(parts)
        return cls(
            bucket=bucket,
            prefix=unquote(parts.path).strip("/"),
            endpoint=_endpoint(options["endpoint"]) if "endpoint" in options else None,
            region=options.get("region") or None,
            key_id=key_id,
            secret=secret,
        )

    @property
    def place(self) -> str:
        """The host that is spoken to, for people."""
        return urlsplit(self.endpoint).netloc if self.endpoint else "AWS"

    def __str__(self) -> str:
        path = f"/{self.prefix}" if self.prefix else ""
        return f"s3://{self.bucket}{path} at {self.place}"


def _parts(text: str) -> SplitResult:
    try:
        parts = urlsplit(text)
    except ValueError:
        parts = urlsplit("")
    if parts.scheme != "s3" or parts.fragment:
        raise InvalidSettings(
            "The place of documents cannot be read.",
            where=SETTING,
            hint=f"{_HINT} Leave it empty for the folder in the data directory.",
        )
    return parts


def _credentials(parts: SplitResult) -> tuple[str | None, str | None]:
    given, at, _ = parts.netloc.rpartition("@")
    if not at:
        return None, None
    key_id, _, secret = given.partition(":")
    if not key_id or not secret:
        raise InvalidSettings(
            "Before the @ stand both KEY_ID:SECRET, or nothing.", where=SETTING, hint=_HINT
        )
    return unquote(key_id), unquote(secret)


def _endpoint(text: str) -> str:
    parts = urlsplit(text)
    if parts.scheme not in {"http", "https"} or not parts.hostname or "@" in parts.netloc:
        raise InvalidSettings(
            "The endpoint must be http:// or https:// and a host.", where=SETTING, hint=_HINT
        )
    return f"{parts.scheme}://{parts.netloc}"
