"""This module checks the arguments of an HTTP tool, in the published words where there are some."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toolcrib.errors import InvalidArguments
from toolcrib.tools.schema import ArgumentChecker, as_object


def missing_parameter(name: str) -> str:
    return f"API request failed: missing required path parameter {name!r}"


class HttpArguments(ArgumentChecker):
    """An ArgumentChecker with sentences for what the URL and the file fields cannot do without.

    An empty text or list counts as missing there. Undeclared arguments are refused.
    """

    def __init__(self, schema: Mapping[str, Any], sentences: Mapping[str, str]) -> None:
        super().__init__(schema, closed=True)
        self._sentences = tuple(sentences.items())

    def check(self, arguments: object) -> dict[str, Any]:
        if self._sentences:
            arguments = as_object(arguments)
            for name, sentence in self._sentences:
                value = arguments.get(name)
                if value is None or value in ("", []):
                    raise InvalidArguments(sentence)
        return super().check(arguments)
