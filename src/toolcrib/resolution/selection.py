"""This module leaves out the tools that an agent's `tools_config` switches off.

The form is Kortix's: `{group: true | false | {enabled, methods: {method: bool | {enabled}}}}`. A
group is a tool class by its name in the catalogue; a tool of any other kind goes by its own name.
Core tools stay, and what is not named stays.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from toolcrib.errors import InvalidOptions
from toolcrib.resolution.toolset import Absence
from toolcrib.tools.presentation import Presentation, presentation_of
from toolcrib.tools.source import Bundle, Offer, ref

Config = Mapping[str, Any]
_FIX = "Change the agent's tools_config with PATCH /api/v1/agents/{id}."


def checked_selection(config: Config) -> Config:
    """The same config. Raises InvalidOptions that names the place which has another form."""
    for name, said in config.items():
        where = f"tools_config.{name}"
        _check(said, where, known={"enabled", "methods"})
        methods = cast("Config", said).get("methods") if isinstance(said, Mapping) else None
        if methods is None:
            continue
        if not isinstance(methods, Mapping):
            raise _refused(f"{where}.methods", "an object of methods")
        for method, one in cast("Config", methods).items():
            _check(one, f"{where}.methods.{method}", known={"enabled"})
    return config


def select(
    bundles: Sequence[tuple[Bundle, int | None]], config: Config
) -> tuple[Sequence[tuple[Bundle, int | None]], Sequence[Absence]]:
    """The bundles without what is switched off, and what that was."""
    if not config:
        return bundles, ()
    kept: list[tuple[Bundle, int | None]] = []
    absences: list[Absence] = []
    for bundle, capability_id in bundles:
        off = [offer for offer in bundle.offers if _is_off(bundle, offer, config)]
        absences += [_switched_off(bundle, offer) for offer in off]
        left = [offer for offer in bundle.offers if offer not in off]
        kept.append((replace(bundle, offers=left) if off else bundle, capability_id))
    return kept, absences


def _is_off(bundle: Bundle, offer: Offer, config: Config) -> bool:
    # What a server says of its own tools decides nothing here.
    shown = presentation_of(offer.spec) if bundle.kind == "native" else Presentation()
    if shown.is_core:
        return False
    if not _enabled(config.get(offer.spec.name, True)):
        return True
    said = [config[group] for group in shown.groups if group in config]
    return any(
        not _enabled(one) or not _method_enabled(one, (shown.method, offer.spec.name))
        for one in said
    )


def _method_enabled(said: object, names: tuple[str, str]) -> bool:
    methods = cast("Config", said).get("methods") if isinstance(said, Mapping) else None
    chosen: Config = cast("Config", methods) if isinstance(methods, Mapping) else {}
    return all(_enabled(chosen.get(name, True)) for name in names)


def _enabled(said: object) -> bool:
    if isinstance(said, Mapping):
        return bool(cast("Config", said).get("enabled", True))
    return said is None or bool(said)


def _check(said: object, where: str, *, known: set[str]) -> None:
    if isinstance(said, bool):
        return
    if not isinstance(said, Mapping):
        raise _refused(where, "true, false or an object with `enabled`")
    given = cast("Config", said)
    for name, value in given.items():
        if name not in known:
            raise _refused(f"{where}.{name}", f"one of {', '.join(sorted(known))} in its place")
        if name == "enabled" and not isinstance(value, bool):
            raise _refused(f"{where}.enabled", "true or false")


def _refused(where: str, wanted: str) -> InvalidOptions:
    return InvalidOptions(
        "The selection of tools cannot be read.", where=where, hint=f"Write {wanted}."
    )


def _switched_off(bundle: Bundle, offer: Offer) -> Absence:
    return Absence(
        stage="selection",
        ref=ref(bundle.kind, bundle.code, offer.spec.name),
        reason="the agent's tools_config switches it off",
        fix=_FIX,
        tool=offer.spec.name,
        code=bundle.code,
    )
