"""This module makes the JSON Schema of a pydantic model as a language model should see it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, cast
from weakref import WeakKeyDictionary

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema

from toolcrib.sources.native.tool import NotATool


class _Plain(GenerateJsonSchema):
    """Without the titles that pydantic derives from names: a model reads the names anyway."""

    ignored_warning_kinds = {"skipped-choice", "non-serializable-default"}  # noqa: RUF012 - as declared there

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


_known: WeakKeyDictionary[type[BaseModel], Mapping[str, Any]] = WeakKeyDictionary()


def schema_of(model: type[BaseModel]) -> Mapping[str, Any]:
    """The input schema of a model class, made once per class. Raises NotATool."""
    schema = _known.get(model)
    if schema is None:
        try:
            schema = bare(model.model_json_schema(schema_generator=_Plain))
        except Exception as error:
            raise NotATool(
                f"its arguments have no JSON Schema: {type(error).__name__}: {first_line(error)}"
            ) from error
        _known[model] = schema
    return schema


def bare(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Without the top's own title and description: the tool has a name and a description."""
    return {k: v for k, v in schema.items() if k not in {"title", "description"}}


def without(schema: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """Without these properties, and without definitions that nothing refers to any more."""
    gone = set(names)
    kept = dict(schema)
    properties = cast("Mapping[str, Any]", kept.get("properties") or {})
    kept["properties"] = {k: v for k, v in properties.items() if k not in gone}
    required = [k for k in cast("list[str]", kept.get("required") or []) if k not in gone]
    kept["required"] = required
    if not required:
        del kept["required"]
    return _pruned(kept)


def _pruned(schema: dict[str, Any]) -> dict[str, Any]:
    definitions = cast("Mapping[str, Any]", schema.get("$defs") or {})
    used: set[str] = set()
    todo: list[object] = [{k: v for k, v in schema.items() if k != "$defs"}]
    while todo:
        node = todo.pop()
        if isinstance(node, dict):
            members = cast("dict[str, object]", node)
            target = members.get("$ref")
            name = target.removeprefix("#/$defs/") if isinstance(target, str) else ""
            if name in definitions and name not in used:
                used.add(name)
                todo.append(definitions[name])
            todo.extend(members.values())
        elif isinstance(node, list):
            todo.extend(cast("list[object]", node))
    kept = {name: rule for name, rule in definitions.items() if name in used}
    return {k: v for k, v in schema.items() if k != "$defs"} | ({"$defs": kept} if kept else {})


def first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [""])[0][:200]
