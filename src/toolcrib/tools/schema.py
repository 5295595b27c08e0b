"""This module checks arguments against a tool's JSON Schema: fill, coerce, then judge.

A model's arguments are text written by a model: a missing object means `{}`, `"3"` may mean 3.
Text is read as another type only where the schema wants that type and the text fits it; where
the schema admits a string, the text stays as it is, byte for byte.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any, cast

import jsonschema_rs
import orjson

from toolcrib.errors import InvalidArguments, InvalidToolSchema

EMPTY_OBJECT: dict[str, Any] = {"type": "object", "properties": {}}
MAX_DEPTH = 128
"""Deeper values are refused: they could exhaust the stack of a validator written in C or Rust."""
_NESTED = (dict, list)


class ArgumentChecker:
    """The compiled form of one input schema. Make it once per tool; it holds no state.

    Raises InvalidToolSchema when the schema cannot be compiled.
    """

    def __init__(self, schema: Mapping[str, Any] | None, *, closed: bool = False) -> None:
        """`closed` refuses arguments that the schema does not declare."""
        self.schema = normalised(schema, closed=closed)
        self._defaults = _defaults(self.schema)
        try:
            self._validator = jsonschema_rs.validator_for(
                self.schema, mask="***", retriever=_refuse_remote
            )
        except (ValueError, jsonschema_rs.ValidationError) as error:
            raise InvalidToolSchema(
                f"The input schema cannot be used: {_complaint(error)}", where="input_schema"
            ) from error

    def check(self, arguments: object) -> dict[str, Any]:
        """Return the arguments as the tool gets them. Raises InvalidArguments with the place."""
        return self.judge(as_object(arguments))

    def judge(self, filled: dict[str, Any]) -> dict[str, Any]:
        """The same for an object that is the checker's own: defaults are put into it."""
        for name, value in self._defaults:
            if name not in filled:  # a tool may change what it gets
                filled[name] = deepcopy(value)
        has_floats = _survey(filled)
        try:
            if not has_floats and self._validator.is_valid(filled):
                return filled
            coerced = cast("dict[str, Any]", coerce(filled, self.schema, self.schema))
            errors = [_sentence(e) for e in self._validator.iter_errors(coerced)]
        except ValueError as error:
            raise InvalidArguments(f"The arguments are not JSON: {error}") from error
        if errors:
            raise InvalidArguments("; ".join(errors[:5]))
        return coerced


def _complaint(error: Exception) -> str:
    """One line with the place in the schema; the value there stays out of it."""
    if not isinstance(error, jsonschema_rs.ValidationError):
        return str(error)
    place = ".".join(str(step) for step in error.instance_path)
    return f"{place}: {error.message}" if place else error.message


def _defaults(schema: Mapping[str, Any]) -> tuple[tuple[str, Any], ...]:
    properties = cast("dict[str, object]", schema.get("properties") or {})
    rules = {n: cast("dict[str, Any]", r) for n, r in properties.items() if isinstance(r, dict)}
    return tuple((name, rule["default"]) for name, rule in rules.items() if "default" in rule)


def normalised(schema: Mapping[str, Any] | None, *, closed: bool = False) -> dict[str, Any]:
    """An object schema that every model vendor and validator accepts, same meaning."""
    whole = dict(schema or {})
    whole.setdefault("type", "object")
    if not isinstance(whole.get("properties"), dict):
        whole["properties"] = {}
    if closed:
        whole.setdefault("additionalProperties", False)
    if not _known_dialect(whole.get("$schema")):
        whole.pop("$schema", None)
    return whole


def as_object(arguments: object) -> dict[str, Any]:
    """What a model sends for "no arguments" (nothing, null, "", "{}") is an empty object."""
    if arguments is None:
        return {}
    if isinstance(arguments, str):
        return _object_of_text(arguments)
    if isinstance(arguments, Mapping):
        values = dict(cast("Mapping[Any, Any]", arguments))
        for key in values:
            if not isinstance(key, str):
                break
        else:
            return values
    kind = type(cast("object", arguments)).__name__
    raise InvalidArguments(f"The arguments must be a JSON object, not {kind}.")


def _object_of_text(text: str) -> dict[str, Any]:
    if not text.strip():
        return {}
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise InvalidArguments(f"The arguments are not JSON: {error}.") from error
    return as_object(value if not isinstance(value, str) else value.strip() or None)


def coerce(value: Any, rule: object, root: Mapping[str, Any], depth: int = 0) -> Any:
    """Read text as what the schema clearly wants; anything else comes back unchanged."""
    resolved = _resolve(rule, root)
    if resolved is None or depth > MAX_DEPTH:
        return value
    wanted = _types(resolved, root)
    if isinstance(value, str) and wanted and "string" not in wanted:
        value = _read(value, wanted)
    elif isinstance(value, float) and value.is_integer() and wanted == {"integer"}:
        value = int(value)
    if isinstance(value, dict):
        properties = cast("dict[str, Any]", resolved.get("properties") or {})
        members = cast("dict[str, Any]", value)
        return {k: coerce(v, properties.get(k), root, depth + 1) for k, v in members.items()}
    if isinstance(value, list):
        items = cast("list[Any]", value)
        return [coerce(item, resolved.get("items"), root, depth + 1) for item in items]
    return value


def _read(text: str, wanted: set[str]) -> Any:
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        lowered = text.strip().lower()
        if "boolean" in wanted and lowered in {"true", "false"}:
            return lowered == "true"
        return text
    return value if _type_name(value) & wanted else text


def _type_name(value: object) -> set[str]:
    if value is None:
        return {"null"}
    if isinstance(value, bool):
        return {"boolean"}
    if isinstance(value, int):
        return {"integer", "number"}
    if isinstance(value, float):
        whole = math.isfinite(value) and value.is_integer()
        return {"integer", "number"} if whole else {"number"}
    if isinstance(value, dict):
        return {"object"}
    return {"array"} if isinstance(value, list) else {"string"}


def _types(rule: Mapping[str, Any], root: Mapping[str, Any], depth: int = 0) -> set[str]:
    """The types a rule admits; an empty set means that it does not say."""
    if depth > 16:
        return set()
    named = rule.get("type")
    if isinstance(named, str):
        return {named}
    if isinstance(named, list):
        return {str(n) for n in cast("list[object]", named)}
    found: set[str] = set()
    for keyword in ("anyOf", "oneOf"):
        for branch in cast("Sequence[object]", rule.get(keyword) or ()):
            resolved = _resolve(branch, root)
            types = _types(resolved, root, depth + 1) if resolved else set[str]()
            if not types:
                return set()
            found |= types
    if not found and "enum" in rule:
        return {t for v in cast("list[object]", rule["enum"]) for t in _type_name(v)}
    return found


def _resolve(rule: object, root: Mapping[str, Any]) -> Mapping[str, Any] | None:
    for _ in range(16):
        if not isinstance(rule, dict):
            return None
        known = cast("dict[str, Any]", rule)
        target = known.get("$ref")
        if not isinstance(target, str) or not target.startswith("#/"):
            return known
        rule = _pointed(target, root)
    return None


def _pointed(target: str, root: Mapping[str, Any]) -> object:
    node: object = root
    for step in target[2:].split("/"):
        key = step.replace("~1", "/").replace("~0", "~")
        node = cast("dict[str, object]", node).get(key) if isinstance(node, dict) else None
    return node


def _sentence(error: jsonschema_rs.ValidationError) -> str:
    path = ".".join(str(step) for step in error.instance_path)
    return f"{path}: {error.message}" if path else error.message


def _survey(values: dict[str, Any]) -> bool:
    """Whether there is a float anywhere (`5.0` may have to become 5). Refuses deep nesting."""
    floats = False
    level: list[object] = [values]
    for _ in range(MAX_DEPTH):
        inside: list[object] = []
        for node in level:
            members = cast("dict[str, object]", node).values() if isinstance(node, dict) else node
            for value in cast("list[object]", members):
                if isinstance(value, _NESTED):
                    inside.append(cast("object", value))
                elif isinstance(value, float):
                    floats = True
        if not inside:
            return floats
        level = inside
    raise InvalidArguments(f"The arguments are nested deeper than {MAX_DEPTH} levels.")


def _known_dialect(uri: object) -> bool:
    return isinstance(uri, str) and uri.rstrip("#").startswith(
        ("https://json-schema.org/draft/", "http://json-schema.org/draft-")
    )


def _refuse_remote(uri: str) -> Any:
    raise ValueError(f"a schema may not refer to {uri!r}; only local references are followed")
