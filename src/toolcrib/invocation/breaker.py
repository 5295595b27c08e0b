"""This module stops calls to an upstream that does not work, and tries it again by itself.

A circuit opens when so many calls in a row failed. Then calls end at once; after a pause one of
them goes through, and its answer decides. A call depends on two circuits. That of the upstream is
shared by all who go there, and opens when nobody could connect. That of the tool's own definition
opens when it was not answered, or with HTTP 5xx: another definition may ask the same host for
something that works. A 4xx is an answer: no bad argument and no bad secret opens a circuit. A tool
whose host an argument chooses has no circuit, since what failed says nothing about the next call.
Every process finds out for itself.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

from toolcrib.invocation.flight import Flight
from toolcrib.tools.result import Output

_MOST = 4096
_SHARED = "The upstream "


@dataclass(frozen=True, kw_only=True, slots=True)
class Patience:
    """When a circuit opens, and for how long. Times are in seconds.

    `failures` in a row within `window` open it, 0 never do. The first pause is `pause`, each
    further one twice as long, up to `longest`. A trial without a word for `trial` is given up.
    """

    failures: int = 5
    window: float = 60.0
    pause: float = 5.0
    longest: float = 60.0
    trial: float = 60.0


@dataclass(kw_only=True, slots=True)
class _Circuit:
    failures: int = 0
    since: float
    """When the first of the failures was seen."""
    pause: float = 0.0
    """0 while the circuit is closed."""
    until: float = 0.0
    """When the next trial may begin, or the present one is given up."""
    trying: bool = False


class Breaker:
    """The circuits that failed lately, by names that begin a sentence; a sound one is not kept."""

    def __init__(
        self, patience: Patience | None = None, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._patience = patience or Patience()
        self._clock = clock
        self._circuits: dict[str, _Circuit] = {}

    def refusal(self, name: str) -> str | None:
        """Why a call may not go now; None when it may."""
        circuit = self._circuits.get(name)
        if circuit is None or not circuit.pause:
            return None
        left = circuit.until - self._clock()
        if left <= 0:
            return None
        when = "it is being tried now" if circuit.trying else f"next try in {math.ceil(left)} s"
        return f"{name} failed {circuit.failures} times in a row; {when}."

    def begin(self, name: str) -> bool:
        """A call goes. True: it is the trial of an open circuit, and the others wait for it."""
        circuit = self._circuits.get(name)
        if circuit is None or not circuit.pause:
            return False
        circuit.trying = True
        circuit.until = self._clock() + self._patience.trial
        return True

    def succeeded(self, name: str) -> None:
        self._circuits.pop(name, None)

    def failed(self, name: str, *, trial: bool) -> None:
        now = self._clock()
        circuit = self._circuits.get(name)
        if circuit is None or (not circuit.pause and now - circuit.since > self._patience.window):
            circuit = self._circuits[name] = _Circuit(since=now)
            self._forget_oldest()
        circuit.failures += 1
        if trial:
            self._pause(circuit, circuit.pause * 2)
        elif not circuit.pause and circuit.failures == self._patience.failures:
            self._pause(circuit, self._patience.pause)

    def undecided(self, name: str) -> None:
        """The trial ended without a word of the upstream: another call may be the next."""
        circuit = self._circuits.get(name)
        if circuit is not None and circuit.pause:
            circuit.trying = False
            circuit.until = self._clock()

    @property
    def troubled(self) -> int:
        """How many circuits failed lately."""
        return len(self._circuits)

    def _pause(self, circuit: _Circuit, seconds: float) -> None:
        circuit.trying = False
        circuit.pause = min(seconds, self._patience.longest)
        circuit.until = self._clock() + circuit.pause

    def _forget_oldest(self) -> None:
        if len(self._circuits) > _MOST:
            self._circuits.pop(next(iter(self._circuits)))


@dataclass(frozen=True, slots=True)
class Admit:
    """A call to an upstream that does not work ends here; nothing is sent."""

    breaker: Breaker

    def __call__(self, flight: Flight) -> Output | None:
        if not self.breaker.troubled:
            return None
        circuits = _circuits(flight)
        for circuit in circuits:
            refusal = self.breaker.refusal(circuit)
            if refusal is not None:
                return Output.failed("unreachable", refusal)
        flight.trials = tuple(circuit for circuit in circuits if self.breaker.begin(circuit))
        return None


@dataclass(frozen=True, slots=True)
class Learn:
    """How the upstream did decides over the calls to come."""

    breaker: Breaker

    def __call__(self, flight: Flight, output: Output) -> Output:
        failed = _failed(flight, output)
        if failed or self.breaker.troubled:
            exchange = flight.exchange
            for circuit in _circuits(flight):
                shared = circuit.startswith(_SHARED)
                if failed and exchange.unreached is shared:
                    self.breaker.failed(circuit, trial=circuit in flight.trials)
                elif exchange.sent if shared else exchange.answered:
                    self.breaker.succeeded(circuit)
                elif circuit in flight.trials:
                    self.breaker.undecided(circuit)
            flight.trials = ()
        return output


@dataclass(frozen=True, slots=True)
class LetGo:
    """A call that a later step could not begin tried nothing: another may be the trial."""

    breaker: Breaker

    def __call__(self, flight: Flight) -> None:
        for circuit in flight.trials:
            self.breaker.undecided(circuit)
        flight.trials = ()


def _circuits(flight: Flight) -> tuple[str, ...]:
    """The circuit of the tool's upstream, and that of its definition there."""
    tool = flight.request.tool
    if tool.upstream is None:
        return ()
    # HTTP 5xx is a server's way to say that all of it is unwell; a tool's failure is none.
    asked = tool.code if tool.kind == "mcp" else tool.ref
    row = "" if tool.capability_id is None else f" of capability {tool.capability_id}"
    return f"{_SHARED}{tool.upstream}", f"{asked}{row} at {tool.upstream}"


def _failed(flight: Flight, output: Output) -> bool:
    """Whether it was the upstream that failed: not when the caller was in more of a hurry."""
    if output.error is not None and output.error.code == "timeout":
        return flight.request.timeout is None
    return flight.exchange.failing
