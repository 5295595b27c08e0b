"""This module holds a native tool: a spec and a body whose every failure becomes an Output."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from toolcrib.errors import ToolcribError
from toolcrib.sources.native.failures import place_of, words_of
from toolcrib.sources.native.tracing import Tracing
from toolcrib.tools.call import Call
from toolcrib.tools.result import ErrorCode, Output
from toolcrib.tools.spec import ToolSpec

_log = logging.getLogger(__name__)

Body = Callable[[Call], Awaitable[Output]]


class NotATool(Exception):
    """An object that cannot be adapted; the text says why."""


class CannotCall(Exception):
    """A call that the tool's code did not end itself; the text is for the model."""

    def __init__(self, code: ErrorCode, text: str) -> None:
        super().__init__(text)
        self.code: ErrorCode = code


class NativeTool:
    """One adapted object. Made once for it, whatever codes it is registered under."""

    __slots__ = ("_body", "_tracing", "spec")

    def __init__(self, spec: ToolSpec, body: Body, tracing: Tracing) -> None:
        self.spec = spec
        self._body = body
        self._tracing = tracing

    async def run(self, call: Call) -> Output:
        """What the tool answers; a tool that raises anything gives a failed Output.

        Raises ToolcribError for what the host refused, and passes real cancellation through.
        """
        resume = self._tracing.stop()
        try:
            return await self._body(call)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            return Output.failed("tool_error", f"{self.spec.name} failed: it cancelled itself.")
        except CannotCall as refusal:
            return Output.failed(refusal.code, str(refusal))
        except (ToolcribError, KeyboardInterrupt, GeneratorExit):
            raise
        except BaseException as error:  # noqa: BLE001 - a tool may raise anything
            where = place_of(error)
            _log.info("tool %r raised %s at %s", self.spec.name, type(error).__name__, where)
            return Output.failed("tool_error", f"{self.spec.name} failed: {words_of(error)}")
        finally:
            if resume is not None:
                resume()
