"""This module reads annotations: which parameters a model fills, and which the host injects.

LangChain's marks are known by name, so that nothing is imported to look for them.
"""

from __future__ import annotations

import functools
import inspect
import sys
import types
import typing
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Union, cast, get_args, get_origin

CONFIG_HOME = "langchain_core.runnables.config"
_MARKS_HOME = "langchain_core.tools.base"


def hints_of(function: Callable[..., Any]) -> dict[str, Any]:
    """Annotations by parameter, `Annotated` kept; one that cannot be resolved stays text."""
    owner = _owner(function)
    try:
        return typing.get_type_hints(owner, include_extras=True)
    except Exception:  # noqa: BLE001 - one bad annotation must not hide the others
        raw = getattr(owner, "__annotations__", {})
        return {name: _resolved(hint, owner) for name, hint in raw.items()}


def is_config(hint: Any) -> bool:
    """Whether an annotation is RunnableConfig, optional or not, resolved or not."""
    if isinstance(hint, str):
        return any(part.strip(" ]").endswith("RunnableConfig") for part in hint.split("|"))
    origin = get_origin(hint)
    if origin is Annotated:
        return is_config(get_args(hint)[0])
    if origin is Union or origin is types.UnionType:
        return any(is_config(part) for part in get_args(hint))
    return (
        getattr(hint, "__name__", "") == "RunnableConfig"
        and getattr(hint, "__module__", "") == CONFIG_HOME
    )


def is_mapping(hint: Any) -> bool:
    """Whether an annotation is some kind of dict, or nothing at all."""
    bare = get_args(hint)[0] if get_origin(hint) is Annotated else hint
    kind = get_origin(bare) or bare
    return hint is inspect.Parameter.empty or kind in {dict, Mapping, typing.Mapping}


def is_injected(hint: Any, metadata: typing.Iterable[Any] = ()) -> bool:
    """Whether LangChain would inject the argument instead of asking the model for it."""
    return _marked(hint, metadata, "InjectedToolArg") or _direct(hint)


def is_call_id(hint: Any, metadata: typing.Iterable[Any] = ()) -> bool:
    """Whether the argument is the id of the tool call."""
    return _marked(hint, metadata, "InjectedToolCallId")


def _marked(hint: Any, metadata: typing.Iterable[Any], mark: str) -> bool:
    marks = (*(get_args(hint)[1:] if get_origin(hint) is Annotated else ()), *metadata)
    return any(_named(one, mark) for one in marks)


def _direct(hint: Any) -> bool:
    bare = get_args(hint)[0] if get_origin(hint) is Annotated else hint
    return _named(get_origin(bare) or bare, "_DirectlyInjectedToolArg")


def _named(mark: Any, name: str) -> bool:
    kind = mark if isinstance(mark, type) else type(mark)
    return any(k.__name__ == name and k.__module__ == _MARKS_HOME for k in kind.__mro__)


def _owner(function: Any) -> Callable[..., Any]:
    """The function whose annotations describe the signature."""
    while True:
        if isinstance(function, functools.partial):
            function = cast("Any", function).func
        elif inspect.ismethod(function):
            function = function.__func__
        elif hasattr(function, "__wrapped__") and not hasattr(function, "__signature__"):
            function = function.__wrapped__
        else:
            return function


def _resolved(hint: Any, owner: Callable[..., Any]) -> Any:
    if not isinstance(hint, str):
        return hint
    module = sys.modules.get(getattr(owner, "__module__", ""))
    holder = types.SimpleNamespace(__annotations__={"hint": hint})
    try:
        found = typing.get_type_hints(holder, vars(module) if module else {}, include_extras=True)
    except Exception:  # noqa: BLE001 - it stays text
        return hint
    return found["hint"]
