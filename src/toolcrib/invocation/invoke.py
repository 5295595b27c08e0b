"""This module runs one call through the steps: the loop that every surface ends in."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from toolcrib.invocation.flight import Flight, Outcome, Request
from toolcrib.invocation.steps import Steps
from toolcrib.resolution.toolset import Forward
from toolcrib.tools.result import Output


class Invoker:
    """Runs calls. It keeps nothing between them."""

    def __init__(
        self, steps: Steps, *, clock: Callable[[], datetime], new_id: Callable[[], str]
    ) -> None:
        self._steps = steps
        self._clock = clock
        self._new_id = new_id

    async def invoke(self, request: Request) -> Outcome:
        """Always an Outcome, whatever the tool does; only cancellation passes through.

        Raises what the journal raises when the start of a call that may change something cannot
        be recorded: then nothing was sent.
        """
        if request.tool.forward is not None:
            request = _forwarded(request, request.tool.forward)
        flight = Flight(
            request=request,
            call_id=self._new_id(),
            started_at=self._clock(),
            began=time.perf_counter(),
        )
        try:
            output = await self._inward(flight)
        except asyncio.CancelledError:
            self._outward(flight, Output.failed("cancelled", "The call was cancelled."))
            raise
        except BaseException:
            self._undo(flight)
            raise
        output = self._outward(flight, output)
        return Outcome(
            call_id=flight.call_id,
            tool=request.tool.name,
            ref=request.tool.ref,
            arguments=flight.arguments,
            output=output,
            duration_ms=round((time.perf_counter() - flight.began) * 1000, 3),
        )

    async def _inward(self, flight: Flight) -> Output:
        for step in self._steps.inward:
            output = step(flight)
            if output is not None and not isinstance(output, Output):
                output = await output
            if output is not None:
                return output
        return Output.failed("internal", "No step ran the tool.")

    def _undo(self, flight: Flight) -> None:
        for step in self._steps.undo:
            step(flight)

    def _outward(self, flight: Flight, output: Output) -> Output:
        for step in self._steps.outward:
            output = step(flight, output)
        return output


def _forwarded(request: Request, forward: Forward) -> Request:
    """The call that a call of `call_tool` means; that call itself when it names no tool."""
    meant = forward(request.arguments)
    return request if meant is None else replace(request, tool=meant[0], arguments=meant[1])
