"""This module warns of values between the quotes of a language that nobody here can write.

A text of a JSON template may be a query: GraphQL, SQL, XML. What is filled in is text, and a quote
in it ends the author's own.
"""

from __future__ import annotations

import re
from typing import Any

from toolcrib.sources.http.holes import json_writers
from toolcrib.sources.http.problems import Problems
from toolcrib.sources.http.slots import Slot
from toolcrib.sources.http.trees import leaves

_BEFORE = re.compile(r"[=:(,\[]\s*([\"'])\Z")


def warn_of_quotes(tree: Any, problems: Problems) -> None:
    """Adds a warning for each text of a template in which a value could end a quote."""
    for leaf in leaves(tree):
        parts = [piece if isinstance(piece, str) else None for piece in leaf.pieces]
        name = next(
            (
                piece.name
                for before, piece, after in zip(parts, leaf.pieces[1:], parts[2:], strict=False)
                if isinstance(piece, Slot) and _quoted(before, after)
            ),
            None,
        )
        if name is not None and json_writers(parts) is None:
            problems.warn(
                leaf.where,
                f"{{{name}}} stands between quotes and is filled in as it is: a quote in it ends "
                "them. Where the language has variables, as GraphQL has, send it as one.",
            )


def _quoted(before: str | None, after: str | None) -> bool:
    quote = _BEFORE.search(before or "")
    return quote is not None and (after or "").startswith(quote[1])
