"""This module lists the steps of a call, in order.

Inward steps prepare and run: the first that gives an Output ends them. Outward steps carry the
Output back: each gets it and hands on what the next one gets. Where an inward step raises, the call
is not made, and the undoing steps give back what was taken for it. A step that must wait gives
something to await; most need not, and a coroutine for each would be a tenth of a call's cost.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from toolcrib.errors import InvalidArguments
from toolcrib.invocation.breaker import Admit, Breaker, Learn, LetGo
from toolcrib.invocation.capping import capped
from toolcrib.invocation.flight import Flight
from toolcrib.invocation.hiding import masked
from toolcrib.invocation.journal import CallEnd, CallStart, Journal
from toolcrib.invocation.running import Runner
from toolcrib.secrets.masking import Maskers
from toolcrib.secrets.memory import Memory
from toolcrib.tools.call import Call
from toolcrib.tools.private import without
from toolcrib.tools.result import Output

Inward = Callable[[Flight], Output | Awaitable[Output | None] | None]
Outward = Callable[[Flight, Output], Output]
Undoing = Callable[[Flight], None]


@dataclass(frozen=True, slots=True)
class Held:
    """A tool whose definition nobody accepted is not called, nor are its words told."""

    def __call__(self, flight: Flight) -> Output | None:
        hold = flight.request.tool.hold
        if hold is None:
            return None
        return Output.failed(
            "held", f"{flight.request.tool.name} is held back: {hold.reason}. {hold.fix}"
        )


@dataclass(frozen=True, slots=True)
class CheckArguments:
    """The arguments fit the tool's schema, or the model is told what does not."""

    def __call__(self, flight: Flight) -> Output | None:
        try:
            flight.arguments = flight.request.tool.checker.check(flight.request.arguments)
        except InvalidArguments as error:
            return Output.failed("invalid_arguments", error.message)
        return None


@dataclass(frozen=True, slots=True)
class RecordStart:
    """What may change something is on disk before it is sent; the rest soon after."""

    journal: Journal

    def __call__(self, flight: Flight) -> Awaitable[None] | None:
        record = start_record(flight)
        flight.recorded = True
        if record.read_only:
            return self.journal.note_start(record)
        return self.journal.start(record)


@dataclass(frozen=True, slots=True)
class Run:
    """The tool itself, before its deadline."""

    runner: Runner
    longest: float

    def __call__(self, flight: Flight) -> Awaitable[Output]:
        request = flight.request
        call = Call(
            call_id=flight.call_id,
            arguments=flight.arguments,
            caller=request.caller,
            agent_id=request.agent_id,
            deadline=min(request.timeout or self.longest, self.longest),
            progress=request.progress,
            log=request.log,
            ask=request.ask,
            secrets=flight.secrets,
            exchange=flight.exchange,
            checked=True,
            configurable=request.configurable,
        )
        return self.runner.run(request.tool, call)


@dataclass(frozen=True, slots=True)
class Doubt:
    """What may have happened is not called failed: a model would do it again."""

    def __call__(self, flight: Flight, output: Output) -> Output:
        tool = flight.request.tool
        if output.error is None or not flight.exchange.unknown or tool.spec.read_only:
            return output
        return Output.failed(
            "outcome_unknown",
            f"Nobody can tell whether {tool.name} did what was asked. {output.error.message} "
            f"Look before you try again; this was {flight.call_id}.",
        )


@dataclass(frozen=True, slots=True)
class Mask:
    """No value that was resolved for the call leaves with its result."""

    maskers: Maskers = field(default_factory=Maskers)

    def __call__(self, flight: Flight, output: Output) -> Output:
        if output.searched or not flight.secrets:
            return output
        return masked(output, self.maskers.of(flight.secrets))


@dataclass(frozen=True, slots=True)
class Cap:
    """A result larger than a model can use is cut, and says so."""

    limit: int

    def __call__(self, flight: Flight, output: Output) -> Output:
        return capped(output, self.limit)


@dataclass(frozen=True, slots=True)
class RecordEnd:
    """How it went, for people."""

    journal: Journal
    maskers: Maskers = field(default_factory=Maskers)

    def __call__(self, flight: Flight, output: Output) -> Output:
        if not flight.recorded:
            self.journal.note_start(start_record(flight))
        error = output.error
        self.journal.end(
            CallEnd(
                call_id=flight.call_id,
                duration_ms=round((time.perf_counter() - flight.began) * 1000, 3),
                success=error is None,
                error=error and error.as_json(),
                truncated=output.truncated,
                arguments=self._hidden(flight) if flight.secrets else None,
            )
        )
        return output

    def _hidden(self, flight: Flight) -> Mapping[str, Any] | None:
        """The arguments without a value that was resolved for the call; None: they had none.

        When the call began nobody knew its values: what was written then is written anew.
        """
        masker = self.maskers.of(flight.secrets)
        shown = without(flight.arguments, flight.request.tool.private)
        return masker.value(shown) if masker.finds(shown) else None


@dataclass(frozen=True, slots=True)
class Steps:
    inward: Sequence[Inward]
    outward: Sequence[Outward]
    undo: Sequence[Undoing] = ()


def standard_steps(
    *,
    journal: Journal | None,
    runner: Runner,
    call_timeout: float,
    result_limit: int,
    memory: Memory | None = None,
    breaker: Breaker | None = None,
) -> Steps:
    """The steps of every call. Approval and limits take their places in between.

    Without a journal the same steps run and nothing is recorded. `memory` is where masks are
    kept while the settings stay.
    """
    breaker = breaker or Breaker()
    start = (RecordStart(journal),) if journal is not None else ()
    maskers = Maskers(memory)
    end = (RecordEnd(journal, maskers),) if journal is not None else ()
    return Steps(
        inward=(Held(), CheckArguments(), Admit(breaker), *start, Run(runner, call_timeout)),
        outward=(
            Learn(breaker),
            Doubt(),
            Mask(maskers),
            Cap(result_limit),
            *end,
        ),
        undo=(LetGo(breaker),),
    )


def start_record(flight: Flight) -> CallStart:
    request = flight.request
    caller = request.caller
    arguments = without(flight.arguments, request.tool.private)
    return CallStart(
        call_id=flight.call_id,
        ref=request.tool.ref,
        tool=request.tool.name,
        read_only=request.tool.spec.read_only,
        user_id=caller.user_id,
        group_id=caller.group_id,
        agent_id=request.agent_id,
        chat_id=caller.chat.id if caller.chat else None,
        started_at=flight.started_at,
        arguments=arguments,
        surface=request.surface,
    )
