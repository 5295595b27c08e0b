"""This module searches what leaves for values that must not: plain, URL-encoded, base64, JSON.

Values under six characters are not searched for: they would mask ordinary words.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Mapping
from typing import Any, cast
from urllib.parse import quote, quote_plus

MASK = "***"
MIN_LENGTH = 6


class Masker:
    """Replaces every form of the given values by `***`. Cheap when there is nothing to hide."""

    def __init__(self, values: Iterable[str]) -> None:
        forms = {form for value in values if len(value) >= MIN_LENGTH for form in _forms(value)}
        self._forms = sorted(forms, key=len, reverse=True)
        self._bytes = [form.encode() for form in self._forms]

    def __bool__(self) -> bool:
        return bool(self._forms)

    def text(self, text: str) -> str:
        for form in self._forms:
            if form in text:
                text = text.replace(form, MASK)
        return text

    def data(self, data: bytes) -> bytes:
        for form in self._bytes:
            if form in data:
                data = data.replace(form, MASK.encode())
        return data

    def value(self, value: Any) -> Any:
        """Mask every string inside a JSON value, keys included."""
        if not self._forms:
            return value
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            members = cast("Mapping[Any, Any]", value)
            return {self.value(k): self.value(v) for k, v in members.items()}
        if isinstance(value, list | tuple):
            return [self.value(item) for item in cast("list[Any]", value)]
        return value


def _forms(value: str) -> set[str]:
    raw = value.encode()
    forms = {value, quote(value, safe=""), quote(value), quote_plus(value)}
    forms |= {json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1]}
    forms |= _base64_forms(raw)
    return {form for form in forms if len(form) >= MIN_LENGTH}


def _base64_forms(raw: bytes) -> set[str]:
    """How the bytes look inside base64 text at each of the three alignments, whole quanta only."""
    forms: set[str] = set()
    for shift in range(3):
        encoded = base64.b64encode(b"\0" * shift + raw).decode()
        start = 0 if shift == 0 else 4
        end = len(encoded) - (4 if (shift + len(raw)) % 3 else 0)
        core = encoded[start:end]
        if len(core) >= 8:
            forms |= {core, core.replace("+", "-").replace("/", "_")}
    whole = base64.b64encode(raw).decode()
    return forms | {whole, whole.rstrip("="), base64.urlsafe_b64encode(raw).decode()}
