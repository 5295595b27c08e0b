"""This module compiles the pairs of a URL's query: which are left out, and what each slot gives."""

from __future__ import annotations

from collections.abc import Callable

from toolcrib.secrets.masking import MASK
from toolcrib.sources.http.segments import SegmentRules, compile_value
from toolcrib.sources.http.styles import Arguments, QueryWriter
from toolcrib.sources.http.units import Unit, partition, pieces_of
from toolcrib.sources.http.words import is_array, percent

Step = str | Callable[[Arguments], str]
"""A piece of a URL: fixed text, or a writer."""


def compile_pair(pair: list[Unit], rules: SegmentRules, *, shown: bool) -> Step:
    """One `name=value`, or its text alone; `shown` has stored values as `***`."""
    if shown and all(unit.stored for unit in pair):
        return MASK
    key, equals, value = partition(pair, "=")
    if len(value) == 1 and value[0].slot and not any(unit.slot for unit in key):
        fixed = compile_value(pieces_of(key), rules, shown=shown)
        return _whole(value[0].slot, str(fixed), rules)
    step = compile_value(pieces_of(key), rules, shown=shown)
    if not equals:
        return step
    return _joined(step, compile_value(pieces_of(value), rules, shown=shown), pair, rules)


def _whole(argument: str, key: str, rules: SegmentRules) -> QueryWriter:
    """A pair whose value is one slot: the field of that argument, absent with it."""

    def write(arguments: Arguments) -> str:
        value = arguments.get(argument)
        if value is None and argument in rules.query_required:
            raise rules.missing(argument)
        if value is None:
            return ""
        if is_array(value):
            return "&".join(f"{key}={percent(item)}" for item in value if item is not None)
        return f"{key}={percent(value)}"

    return write


def _joined(key: Step, value: Step, pair: list[Unit], rules: SegmentRules) -> Step:
    if isinstance(key, str) and isinstance(value, str):
        return f"{key}={value}"
    names = [unit.slot for unit in pair if unit.slot]

    def write(arguments: Arguments) -> str:
        if rules.drops_partial and not any(arguments.get(n) is not None for n in names):
            return ""
        left = key if isinstance(key, str) else key(arguments)
        right = value if isinstance(value, str) else value(arguments)
        return f"{left}={right}"

    return write
