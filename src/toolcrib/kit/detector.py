"""This module finds out which of the values of a run a tool's constructor takes."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

KNOWN = ("project_id", "thread_id", "thread_manager", "db_connection", "account_id")


class ParameterDetector:
    """Matches constructor parameters by name alone."""

    def detect(self, tool: type) -> list[str]:
        """The known parameters that the constructor takes, in its order."""
        return [name for name in _parameters(tool) if name in KNOWN]

    def fill(self, tool: type, values: Mapping[str, Any]) -> dict[str, Any]:
        """What to construct the tool with; a known value that is None counts as not there."""
        return {name: values[name] for name in self.detect(tool) if values.get(name) is not None}

    def missing(self, tool: type, given: Mapping[str, Any]) -> list[str]:
        """Parameters that the constructor needs and that are not given."""
        variable = {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD}
        return [
            name
            for name, parameter in _parameters(tool).items()
            if parameter.default is parameter.empty
            and parameter.kind not in variable
            and name not in given
        ]


def _parameters(tool: type) -> dict[str, inspect.Parameter]:
    return dict(inspect.signature(tool).parameters)
