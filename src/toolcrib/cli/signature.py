"""This module gives the function that typer calls the signature that typer reads."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, get_args


def look_like(run: Callable[..., None], work: Callable[..., Any], options: dict[str, Any]) -> None:
    """Give `run` the work's own parameters and the common options: typer reads them."""
    keyword = inspect.Parameter.KEYWORD_ONLY
    # The first parameter, the client or the settings, does not come from the command line.
    _, *own = inspect.signature(work).parameters.values()
    parameters = [one.replace(kind=keyword, annotation=_type_of(one, work)) for one in own]
    for key, annotation in options.items():
        default = False if get_args(annotation)[0] is bool else None
        parameters.append(inspect.Parameter(key, keyword, default=default, annotation=annotation))
    run.__doc__ = work.__doc__
    run.__name__ = getattr(work, "__name__", "command")
    run.__annotations__ = {one.name: one.annotation for one in parameters}
    run.__dict__["__signature__"] = inspect.Signature(parameters)


def _type_of(parameter: inspect.Parameter, work: Callable[..., Any]) -> Any:
    """What the annotation means where the work was written. (That of the first parameter is for
    the type checker alone: evaluating it would import what `--help` does without.)"""
    return eval(parameter.annotation, getattr(work, "__globals__", {}))  # noqa: S307 - our own code


def epilog(examples: tuple[str, ...]) -> str:
    """What stands below the help: lines to copy."""
    lines = [f"$ {one}".replace("[", r"\[") for one in examples]
    return "\n\n".join(["Example:" if len(lines) == 1 else "Examples:", *lines])
