"""This module keeps LangSmith from tracing what runs inside a call, unless that is allowed."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from contextvars import ContextVar
from functools import partial
from typing import Any, cast

_SWITCHES = (
    "LANGSMITH_TRACING",
    "LANGSMITH_TRACING_V2",
    "LANGCHAIN_TRACING",
    "LANGCHAIN_TRACING_V2",
)


class Tracing:
    """Whether LangSmith may see what tools do."""

    def __init__(
        self, *, allowed: bool = False, environment: Mapping[str, str] = os.environ
    ) -> None:
        self.allowed = allowed
        if not allowed and any(environment.get(name) for name in _SWITCHES):
            try:  # loaded now, so that it can be stopped when a tool is the first to use it
                importlib.import_module("langsmith.run_helpers")
            except ImportError:  # nobody to trace
                return

    def stop(self) -> Callable[[], object] | None:
        """Stop tracing in this context; returns what starts it again, if there is anything."""
        helpers: Any = sys.modules.get("langsmith.run_helpers")
        if self.allowed or helpers is None:
            return None
        switch = getattr(helpers, "_TRACING_ENABLED", None)
        if isinstance(switch, ContextVar):
            flag = cast("ContextVar[bool | None]", switch)
            # The public way costs ten times as much, and this stands in the path of every call.
            return partial(flag.reset, flag.set(False))
        stack = ExitStack()
        stack.enter_context(helpers.tracing_context(enabled=False))
        return stack.close
