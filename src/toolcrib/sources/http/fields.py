"""This module reads the fields of an API capability: `{type, description, required, default}`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from toolcrib.secrets.placeholders import joined
from toolcrib.sources.http.files import FileField
from toolcrib.sources.http.problems import Problems
from toolcrib.sources.http.words import is_object

TYPES: Final = ("string", "integer", "number", "boolean")
FIELD_KEYS = frozenset({"type", "description", "required", "default"})
_FILE_KEYS = frozenset({"description", "required", "multiple"})


@dataclass(frozen=True, kw_only=True, slots=True)
class Field:
    """One argument of the model. A required one has no default; an optional one may be null."""

    name: str
    type: str = "string"
    description: str = ""
    required: bool = True
    default: Any = None

    def schema(self) -> dict[str, Any]:
        """The JSON Schema that the model is shown."""
        rule: dict[str, Any] = {"type": self.type if self.required else [self.type, "null"]}
        if self.description:
            rule["description"] = self.description
        if not self.required and self.default is not None:
            rule["default"] = self.default
        return rule


def read_fields(section: object, problems: Problems, where: str) -> dict[str, Field]:
    """The fields of one section, in order; what cannot be read becomes a problem."""
    fields: dict[str, Field] = {}
    for name, rule, place in _entries(section, problems, where):
        _require_known(rule, FIELD_KEYS, problems, place)
        required = _flag(rule, "required", problems, place)
        fields[name] = Field(
            name=name,
            type=_type(rule.get("type", "string"), problems, f"{place}.type"),
            description=_text(rule, "description", problems, place),
            required=required,
            default=None if required else _default(rule, problems, place),
        )
    return fields


def read_files(section: object, problems: Problems, where: str) -> tuple[FileField, ...]:
    """The file fields, in order."""
    files: list[FileField] = []
    for name, rule, place in _entries(section, problems, where):
        _require_known(rule, _FILE_KEYS, problems, place)
        files.append(
            FileField(
                name=name,
                description=_text(rule, "description", problems, place),
                required=_flag(rule, "required", problems, place),
                multiple=_flag(rule, "multiple", problems, place),
            )
        )
    return tuple(files)


def _entries(
    section: object, problems: Problems, where: str
) -> list[tuple[str, Mapping[str, Any], str]]:
    if section is None:
        return []
    if not is_object(section):
        problems.error(where, "Must be an object of fields: {name: {type, description, required}}.")
        return []
    entries: list[tuple[str, Mapping[str, Any], str]] = []
    for name, rule in section.items():
        place = joined(where, name)
        if not name.strip():
            problems.error(place, "A field needs a name.")
        elif not is_object(rule):
            problems.error(place, "A field must be an object: {type, description, required}.")
        else:
            entries.append((name, rule, place))
    return entries


def _type(value: object, problems: Problems, where: str) -> str:
    if isinstance(value, str) and value in TYPES:
        return value
    problems.warn(where, f"The type {value!r} is unknown and is taken as string.")
    return "string"


def _flag(rule: Mapping[str, Any], key: str, problems: Problems, where: str) -> bool:
    value = rule.get(key, False)
    if not isinstance(value, bool):
        problems.error(f"{where}.{key}", f"Must be true or false, not {value!r}.")
        return False
    return value


def _text(rule: Mapping[str, Any], key: str, problems: Problems, where: str) -> str:
    value = rule.get(key) or ""
    if not isinstance(value, str):
        problems.error(f"{where}.{key}", "Must be text.")
        return ""
    return value


def _default(rule: Mapping[str, Any], problems: Problems, where: str) -> Any:
    value = rule.get("default")
    if isinstance(value, Mapping | list):
        problems.error(f"{where}.default", "Must be a single value.")
        return None
    return value


def _require_known(
    rule: Mapping[str, Any], keys: frozenset[str], problems: Problems, where: str
) -> None:
    for key in rule:
        if key not in keys:
            problems.warn(joined(where, key), f"{key!r} is not known here and is ignored.")
