"""This module searches what leaves for values that must not, in every form that they may take.

A value is found as it is, and with its marks written as a URL, JSON, HTML or a wrong charset would
write them, mixed and twice over; and inside base64, see base64s.py. Values under six characters are
not searched for: they would mask ordinary words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any, Final, cast

from toolcrib.secrets.base64s import Base64Forms
from toolcrib.secrets.memory import Kept, Memory
from toolcrib.secrets.spelling import spellable, spelled, spelled_in_bytes, usual_spellings

MASK: Final = "***"
MIN_LENGTH: Final = 6
WIDEST: Final = 20
"""The most characters that one character of a value becomes: four bytes, percent-encoded twice."""
_NUMBERS, _ARRAYS = (int, float), (list, tuple)
"""Written once: `list | tuple` would make a new type at every look."""
_WIDE: Final = ("utf-16-le", "utf-16-be")
_RUN = re.compile(r"[A-Za-z0-9]+", re.ASCII)
_NUMBER = re.compile(r"-?[0-9][0-9.eE+-]*", re.ASCII)


class Masker:
    """Replaces every form of the given values by `***`. Cheap when there is nothing to hide."""

    def __init__(self, values: Iterable[str]) -> None:
        # Headers and URLs leave out the blanks around a value.
        found = {form for value in values for form in (value, value.strip())}
        long = (form for form in found if len(form) >= MIN_LENGTH)
        self._values = sorted(long, key=len, reverse=True)
        self._base64 = Base64Forms(_inner_forms(self._values))
        self._probes = _shortest([*map(_rarest, self._values), *self._base64.probes])
        self._byte_probes = [probe.encode() for probe in self._probes]
        self._numeric = any(_NUMBER.fullmatch(value) for value in self._values)

    def __bool__(self) -> bool:
        return bool(self._values)

    @property
    def reach(self) -> int:
        """How long the longest form of a value can be, in characters."""
        return WIDEST * len(self._values[0]) if self._values else 0

    def text(self, text: str) -> str:
        return self._masked(text) if any(map(text.__contains__, self._probes)) else text

    def data(self, data: bytes) -> bytes:
        if any(map(data.__contains__, self._wide_probes)):
            data = self._without_wide(data)
        found = any(map(data.__contains__, self._byte_probes))
        return self._masked_bytes(data) if found else data

    def misses(self, data: bytes) -> bool:
        """Whether neither a text of these bytes nor its JSON can have a value; False: perhaps."""
        if self._numeric or b"\\" in data:  # escapes and numbers hide what they say
            return False
        return not any(map(data.__contains__, self._byte_probes))

    def value(self, value: Any) -> Any:
        """Mask every string and number inside a JSON value, keys included.

        Where there is nothing to mask it is the value itself.
        """
        return self._without(value) if self.finds(value) else value

    def finds(self, *values: Any) -> bool:
        """Whether something in one of the values, at any depth, may have to be masked."""
        waiting = [*values] if self._values else []
        while waiting:
            node = waiting.pop()
            if isinstance(node, str):
                for probe in self._probes:
                    if probe in node:
                        return True
            elif isinstance(node, dict):
                members = cast("dict[Any, Any]", node)
                waiting += members
                waiting += members.values()
            elif isinstance(node, _ARRAYS):
                waiting += cast("list[Any]", node)
            elif isinstance(node, _NUMBERS) and not self._numeric:
                continue
            elif self._is_shown_by(node):
                return True
        return False

    def _is_shown_by(self, node: object) -> bool:
        if isinstance(node, bytes):
            return self.data(node) is not node
        if isinstance(node, Mapping):
            return self.finds(dict(cast("Mapping[Any, Any]", node)))
        return isinstance(node, _NUMBERS) and self.text(repr(node)) != repr(node)

    def _without(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, bytes):
            return self.data(value)
        if isinstance(value, Mapping):
            members = cast("Mapping[Any, Any]", value)
            return {self._without(k): self._without(v) for k, v in members.items()}
        if isinstance(value, list | tuple):
            return [self._without(item) for item in cast("list[Any]", value)]
        if self._numeric and isinstance(value, _NUMBERS) and self._is_shown_by(value):
            return MASK
        return value

    def _masked(self, text: str) -> str:
        for form in self._literals:
            text = text.replace(form, MASK)
        text = self._pattern.sub(MASK, text) if self._pattern else text
        return self._without_base64(text)

    def _without_base64(self, text: str) -> str:
        kept: list[str] = []
        last = 0
        for start, end in self._base64.spans(text):
            kept += (text[last:start], MASK)
            last = end
        return "".join([*kept, text[last:]]) if kept else text

    def _masked_bytes(self, data: bytes) -> bytes:
        for form in self._literals:
            data = data.replace(form.encode(errors="replace"), MASK.encode())
        data = self._byte_pattern.sub(MASK.encode(), data) if self._byte_pattern else data
        return self._without_base64(data.decode("latin-1")).encode("latin-1")

    @cached_property
    def _literals(self) -> list[str]:
        """The longest first, so that none leaves the rest of another behind."""
        forms = {f for v in self._values if not spellable(v) for f in usual_spellings(v)}
        return sorted(forms, key=len, reverse=True)

    @cached_property
    def _wide_probes(self) -> list[bytes]:
        return [probe.encode(name) for probe in self._probes for name in _WIDE]

    def _without_wide(self, data: bytes) -> bytes:
        """Texts of two bytes for each character, as files of other systems hold them."""
        for name in _WIDE:
            for start in (0, 1):
                end = len(data) - (len(data) - start) % 2
                text = data[start:end].decode(name, "surrogatepass")
                masked = self.text(text).encode(name, "surrogatepass")
                data = data[:start] + masked + data[end:]
        return data

    @cached_property
    def _pattern(self) -> re.Pattern[str] | None:
        forms = [spelled(value) for value in self._values if spellable(value)]
        return re.compile("|".join(forms)) if forms else None

    @cached_property
    def _byte_pattern(self) -> re.Pattern[bytes] | None:
        forms = [spelled_in_bytes(value) for value in self._values if spellable(value)]
        return re.compile(b"|".join(forms)) if forms else None

    def __repr__(self) -> str:
        return f"Masker({len(self._values)} values)"


class Maskers:
    """Maskers of the values that came lately, so that a call need not make its own."""

    def __init__(self, memory: Memory | None = None) -> None:
        self._kept: Kept[Masker] = (memory or Memory()).shelf(most=1024)

    def of(self, values: Iterable[str]) -> Masker:
        key = frozenset(values)
        known = self._kept.get(key)
        if known is None:
            known = Masker(key)
            self._kept.put(key, known, made_at=self._kept.now())
        return known


def _rarest(value: str) -> str:
    """A text that is wherever the value is, in every spelling: looking for it is fast."""
    # Letters and digits stay as they are everywhere; the longest run of them is the rarest.
    return max(_RUN.findall(value), key=len, default="")


def _inner_forms(values: Iterable[str]) -> Iterable[str]:
    """What of the values a longer text may hold that is then written in base64."""
    for value in values:
        yield from usual_spellings(value) if spellable(value) else (value,)


def _shortest(probes: Iterable[str]) -> list[str]:
    """Without those that hold another one: where they are, it is."""
    found: list[str] = []
    for probe in sorted(set(probes), key=len):
        if not any(shorter in probe for shorter in found):
            found.append(probe)
    return found
