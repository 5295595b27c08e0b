"""This module writes the page of the built-in tools from what their classes say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, cast

from toolcrib.builtin.codes import CLASSES, CODES, Code, class_of
from toolcrib.kit.tool import metadata_of, method_metadata_of, schemas_of
from toolcrib.plugin.registration import ANNOTATIONS


def lines() -> list[str]:
    """A section for each code: its classes, and what a model may call of each."""
    found = ["| Code | For | Groups |", "|---|---|---|", *map(_row, CODES), ""]
    for code in CODES:
        found += _section(code)
    return found


def _row(code: Code) -> str:
    anchor = f"[`{code.code}`](#{code.code})"
    groups = ", ".join(f"`{name}`" for name in code.tools) or "(decided by the chat)"
    return f"| {anchor} | {code.description} | {groups} |"


def _section(code: Code) -> list[str]:
    found = [f"## `{code.code}`", "", code.description, ""]
    for name in code.tools:
        found += _group(name)
    return found


def _group(name: str) -> Iterator[str]:
    kind = class_of(CLASSES[name])
    said = metadata_of(kind)
    core = " Core: no agent's selection switches it off." if said and said.is_core else ""
    yield f"**{said.display_name if said else name}** (`{name}`, class `{kind.__name__}`).{core}"
    yield ""
    yield "| Function | What it does | Arguments |"
    yield "|---|---|---|"
    shown = method_metadata_of(kind)
    for method, schemas in schemas_of(kind).items():
        read_only = getattr(getattr(kind, method), ANNOTATIONS, {}).get("readOnlyHint")
        for schema in schemas:
            function = cast("Mapping[str, Any]", schema.schema["function"])
            what = _cell(str(function["description"]))
            changes = "" if read_only else " Changes something."
            core_method = shown[method].is_core and not (said and said.is_core)
            yield (
                f"| `{schema.name}` | {what}{changes}{' Core.' if core_method else ''} | "
                f"{_arguments(function['parameters'])} |"
            )
    yield ""


def _arguments(parameters: Mapping[str, Any]) -> str:
    required = set(parameters.get("required") or ())
    found: list[str] = []
    for name, rule in parameters["properties"].items():
        kind = rule.get("type") or " or ".join(str(one["type"]) for one in rule["anyOf"])
        default = f", `{rule['default']}`" if "default" in rule else ""
        needed = ", required" if name in required else ""
        found.append(f"`{name}` ({kind}{needed}{default}): {_cell(str(rule['description']))}")
    return "<br>".join(found) or "none"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
