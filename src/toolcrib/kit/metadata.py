"""This module says what people read of a tool class and of its methods."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

T = TypeVar("T")


@dataclass
class ToolMetadata:
    """Of a whole class. Of two tools the one with the lower `weight` stands first."""

    display_name: str
    description: str
    icon: str | None = None
    color: str | None = None
    is_core: bool = False
    """Always enabled, whatever an agent's method selection says."""
    weight: int = 100
    visible: bool = False
    """Shown in people's lists; the model sees the tool either way."""
    usage_guide: str | None = None
    """Long instructions that a model reads only when it asks for them."""
    category: str | None = None
    """`core`, `sandbox`, `search`, `utility` or `agent_builder`: where a class that is announced
    by an entry point stands in the catalogue; None: `utility`."""


@dataclass
class MethodMetadata:
    """Of one method."""

    display_name: str
    description: str
    is_core: bool = False
    visible: bool = True


def tool_metadata(  # noqa: PLR0917 - the signature is Kortix's
    display_name: str,
    description: str,
    icon: str | None = None,
    color: str | None = None,
    is_core: bool = False,
    weight: int = 100,
    visible: bool = False,
    usage_guide: str | None = None,
    category: str | None = None,
) -> Callable[[type[T]], type[T]]:
    """Decorate a tool class."""
    said = ToolMetadata(
        display_name=display_name,
        description=description,
        icon=icon,
        color=color,
        is_core=is_core,
        weight=weight,
        visible=visible,
        usage_guide=usage_guide,
        category=category,
    )

    def mark(tool: type[T]) -> type[T]:
        marked: Any = tool
        marked.__tool_metadata__ = said
        return tool

    return mark


def method_metadata(
    display_name: str,
    description: str,
    is_core: bool = False,
    visible: bool = True,
) -> Callable[[T], T]:
    """Decorate a method of a tool class, above or below its schema."""
    said = MethodMetadata(
        display_name=display_name, description=description, is_core=is_core, visible=visible
    )

    def mark(method: T) -> T:
        marked: Any = method
        marked.__method_metadata__ = said
        return method

    return mark
