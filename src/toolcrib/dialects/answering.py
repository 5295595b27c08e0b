"""This module makes whatever happens to a call an answer that a model can read."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from toolcrib.errors import NotFound, ToolcribError
from toolcrib.invocation.flight import Outcome
from toolcrib.invocation.running import failed_by
from toolcrib.resolution.toolset import ResolvedTool
from toolcrib.tools.result import Output

_log = logging.getLogger(__name__)

Invoke = Callable[[ResolvedTool, object, Mapping[str, Any]], Awaitable[Outcome]]
"""Runs one call: the tool, the model's arguments, the `configurable` of the run.

A ToolcribError becomes a result that the model reads.
"""


async def answered(
    invoke: Invoke, tool: ResolvedTool, arguments: object, configurable: Mapping[str, Any]
) -> Outcome | Output:
    """The Outcome, or the Output of a call that could not even be made."""
    try:
        return await invoke(tool, arguments, configurable)
    except NotFound as error:
        return Output.failed("not_granted", str(error))
    except ToolcribError as error:
        return failed_by(error)
    except Exception:  # noqa: BLE001 - whatever broke, the agent's run goes on
        _log.exception("the call of %r could not be made", tool.name)
        return Output.failed("internal", f"{tool.name} could not be called.")
