"""This module checks a kit method's arguments when it is called, whoever calls it.

Arguments that do not fit the schema are a failed ToolResult, never an exception.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, cast

from toolcrib.errors import ToolcribError
from toolcrib.kit.result import ToolResult, failed

if TYPE_CHECKING:
    from toolcrib.kit.schema import ToolSchema
    from toolcrib.tools.schema import ArgumentChecker


def checked(function: Callable[..., Any], schemas: Sequence[ToolSchema]) -> Callable[..., Any]:
    """The same method, checking by the first of `schemas`, as far as they are filled by then."""
    entrance = _Entrance(function, schemas)
    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def called(*places: Any, **names: Any) -> Any:
            bound = entrance.bind(places, names)
            if isinstance(bound, ToolResult):
                return bound
            return await function(*bound.args, **bound.kwargs)

        return called

    @functools.wraps(function)
    def called_now(*places: Any, **names: Any) -> Any:
        bound = entrance.bind(places, names)
        if isinstance(bound, ToolResult):
            return bound
        return function(*bound.args, **bound.kwargs)

    return called_now


class _Entrance:
    """Compiles the schema at the first call: most tools of a catalogue are never called."""

    def __init__(self, function: Callable[..., Any], schemas: Sequence[ToolSchema]) -> None:
        self._schemas = schemas
        self._checker: ArgumentChecker | None = None
        self._signature = inspect.signature(function)
        parameters = self._signature.parameters.values()
        self._rest = next((p.name for p in parameters if p.kind is p.VAR_KEYWORD), None)
        variable = {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD}
        self._needed = tuple(
            p.name for p in parameters if p.default is p.empty and p.kind not in variable
        )

    def bind(
        self, places: tuple[Any, ...], names: dict[str, Any]
    ) -> inspect.BoundArguments | ToolResult:
        try:
            bound = self._signature.bind_partial(*places, **names)
            self._fill(bound)
        except (TypeError, ToolcribError) as error:
            return failed(f"Invalid arguments: {error}")
        missing = [name for name in self._needed if name not in bound.arguments]
        if missing:
            return failed(f"Invalid arguments: {', '.join(map(repr, missing))} is missing.")
        return bound

    def _fill(self, bound: inspect.BoundArguments) -> None:
        """Check what the schema declares, fill in its defaults. Raises InvalidArguments."""
        if not self._schemas:
            return
        if self._checker is None:
            from toolcrib.tools.schema import ArgumentChecker  # noqa: PLC0415 - slow to load

            parameters = self._schemas[0].schema["function"]["parameters"]
            self._checker = ArgumentChecker(parameters)
        rest = self._rest
        extra = cast("dict[str, Any]", bound.arguments.get(rest, {})) if rest else {}
        values = {**bound.arguments, **extra}
        declared = cast("dict[str, Any]", self._checker.schema["properties"])
        given = {name: values[name] for name in declared if name in values}
        for name, value in self._checker.check(given).items():
            if name in self._signature.parameters and name != rest:
                bound.arguments[name] = value
            elif rest:
                bound.arguments.setdefault(rest, {})[name] = value
