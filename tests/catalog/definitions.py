"""This module makes definitions of tools, and changes of them, for properties."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

NAMES = st.sampled_from(["a", "b", "query", "sidenote", "city"])
TEXTS = st.text(st.characters(exclude_categories=()), max_size=12)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.floats(-2, 2) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES | TEXTS, inner, max_size=3),
    max_leaves=6,
)
TYPES = st.sampled_from(["string", "integer", "object"]) | st.lists(
    st.sampled_from(["string", "null", "integer"]), max_size=2, unique=True
)


def _object(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(
        {},
        optional={
            "type": TYPES,
            "description": TEXTS | VALUES,
            "title": TEXTS,
            "properties": st.dictionaries(NAMES, inner, max_size=3) | VALUES,
            "required": st.lists(NAMES, max_size=3) | VALUES,
            "items": inner,
            "anyOf": st.lists(inner, max_size=3),
            "allOf": st.lists(inner, max_size=2),
            "$defs": st.dictionaries(NAMES, inner, max_size=2),
            "enum": st.lists(VALUES, max_size=3),
            "minimum": VALUES,
            "maxLength": st.integers(0, 9),
            "additionalProperties": st.booleans() | inner,
            "default": VALUES,
            "x-odd": VALUES,
        },
    )


SCHEMAS = st.recursive(_object(st.just({})) | st.booleans() | VALUES, _object, max_leaves=6)
DEFINITIONS = st.fixed_dictionaries(
    {"name": NAMES, "description": TEXTS, "inputSchema": SCHEMAS},
    optional={
        "outputSchema": SCHEMAS,
        "annotations": st.dictionaries(
            st.sampled_from(["title", "readOnlyHint", "destructiveHint"]),
            st.booleans() | TEXTS | VALUES,
        ),
        "title": TEXTS,
        "icons": VALUES,
        "_meta": VALUES,
        "source": st.dictionaries(
            st.sampled_from(["upstream", "method", "version", "code", "definition"]), VALUES
        ),
    },
)
