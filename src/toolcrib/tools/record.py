"""This module makes the small objects of which every call makes a dozen.

A `record` is a frozen dataclass to whoever reads and checks the code. At run time it is a plain one
with slots: a frozen one sets each field through a call of its own, which takes three times as long.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeVar, dataclass_transform

T = TypeVar("T")


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(field,))
def record(made: type[T]) -> type[T]:
    """Make a class a record; its fields are named when one is made, and never set afterwards."""
    return dataclass(kw_only=True, slots=True, unsafe_hash=True)(made)


def no_values() -> dict[str, Any]:
    """A new empty object; calling `dict[str, Any]` takes ten times as long."""
    return {}
