"""This module rejects the combinations that API options do not allow, each with its place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from toolcrib.sources.http.fields import Field
from toolcrib.sources.http.problems import Problems

if TYPE_CHECKING:
    from toolcrib.sources.http.api_options import ApiOptions

ROOT = "options"


def reject(options: Mapping[str, Any], read: ApiOptions, problems: Problems) -> None:
    """The combinations that the format does not allow."""
    has_template = options.get("body_template") is not None
    if has_template and read.body is not None:
        problems.error("options.body", "body and body_template exclude each other.")
    if has_template and options.get("files") is not None:
        problems.error("options.files", "files cannot be combined with body_template: use body.")
    if options.get("body_params") is not None and not has_template:
        problems.error("options.body_params", "body_params needs a body_template.")
    sections = _sections(read)
    _reject_overlaps(sections, problems)
    _reject_unused(read.path_params, read.url_slots, "path_params", "url", problems)
    if has_template:
        _reject_unused(read.body_params, read.body_slots, "body_params", "body_template", problems)
    slots = {*read.url_slots, *read.body_slots}
    for section in ("params", "body", "files"):
        for name in sections[section]:
            if name in slots and not any(
                name in sections[s] for s in ("path_params", "body_params")
            ):
                problems.error(
                    f"{ROOT}.{section}.{name}",
                    f"{name!r} is a slot too: give one of them another name.",
                )


def _sections(read: ApiOptions) -> dict[str, tuple[str, ...]]:
    return {
        "path_params": tuple(read.path_params),
        "params": tuple(read.params),
        "body": tuple(read.body or ()),
        "body_params": tuple(read.body_params),
        "files": tuple(file.name for file in read.files),
    }


def _reject_overlaps(sections: Mapping[str, tuple[str, ...]], problems: Problems) -> None:
    first: dict[str, str] = {}
    for section, names in sections.items():
        for name in names:
            if name in first:
                problems.error(
                    f"{ROOT}.{section}.{name}",
                    f"{name!r} stands in {first[name]} and in {section}: a name belongs to one.",
                )
            else:
                first[name] = section


def _reject_unused(
    fields: Mapping[str, Field],
    slots: tuple[str, ...],
    section: str,
    target: str,
    problems: Problems,
) -> None:
    for name in fields:
        if name not in slots:
            problems.error(
                f"{ROOT}.{section}.{name}", f"The {target} has no slot {{{name}}} for this field."
            )
