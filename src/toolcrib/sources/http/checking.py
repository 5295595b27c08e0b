"""This module checks the arguments of an HTTP tool, in the published words where there are some."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toolcrib.errors import InvalidArguments
from toolcrib.sources.http.words import is_array, is_object, text_of
from toolcrib.tools.schema import ArgumentChecker, as_object

_NUMBERS = (int, float)


def missing_parameter(name: str) -> str:
    return f"API request failed: missing required path parameter {name!r}"


class HttpArguments(ArgumentChecker):
    """An ArgumentChecker for arguments that end as text on the wire.

    A number or boolean where the schema wants text is taken as its text. What the URL and the file
    fields cannot do without has sentences of its own; an empty text or list counts as missing
    there. Undeclared arguments are refused.
    """

    def __init__(self, schema: Mapping[str, Any], sentences: Mapping[str, str]) -> None:
        super().__init__(schema, closed=True)
        self._sentences = tuple(sentences.items())
        properties: Mapping[str, Any] = self.schema["properties"]
        self._texts = frozenset(n for n, rule in properties.items() if _wants_text(rule))

    def check(self, arguments: object) -> dict[str, Any]:
        given = as_object(arguments)
        for name, sentence in self._sentences:
            value = given.get(name)
            if value is None or value in ("", []):
                raise InvalidArguments(sentence)
        for name in self._texts:
            value = given.get(name)
            if isinstance(value, _NUMBERS):
                given[name] = text_of(value)
        return self.judge(given)


def _wants_text(rule: object) -> bool:
    """Whether a schema admits text (and perhaps null) and nothing else."""
    kind = rule.get("type") if is_object(rule) else None
    return kind == "string" or (is_array(kind) and set(kind) == {"string", "null"})
