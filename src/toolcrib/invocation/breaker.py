"""This module stops calls to an upstream that does not work, and tries it again by itself.

An upstream opens its circuit when so many calls in a row could not reach it, were not answered in
time, or got HTTP 5xx. Then calls end at once; after a pause one of them goes through, and its
answer decides. A 4xx is an answer: no bad argument and no bad secret opens a circuit. Every process
finds out for itself.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

from toolcrib.invocation.flight import Flight
from toolcrib.tools.result import Output

_MOST = 4096


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
    """The circuits of the upstreams that failed lately; a sound one has none."""

    def __init__(
        self, patience: Patience | None = None, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._patience = patience or Patience()
        self._clock = clock
        self._circuits: dict[str, _Circuit] = {}

    def refusal(self, upstream: str) -> str | None:
        """Why a call may not go now; None when it may."""
        circuit = self._circuits.get(upstream)
        if circuit is None or not circuit.pause:
            return None
        left = circuit.until - self._clock()
        if left <= 0:
            return None
        when = "it is being tried now" if circuit.trying else f"next try in {math.ceil(left)} s"
        return f"The upstream {upstream} failed {circuit.failures} times in a row; {when}."

    def begin(self, upstream: str) -> bool:
        """A call goes. True: it is the trial of an open circuit, and the others wait for it."""
        circuit = self._circuits.get(upstream)
        if circuit is None or not circuit.pause:
            return False
        circuit.trying = True
        circuit.until = self._clock() + self._patience.trial
        return True

    def succeeded(self, upstream: str) -> None:
        self._circuits.pop(upstream, None)

    def failed(self, upstream: str, *, trial: bool) -> None:
        now = self._clock()
        circuit = self._circuits.get(upstream)
        if circuit is None or (not circuit.pause and now - circuit.since > self._patience.window):
            circuit = self._circuits[upstream] = _Circuit(since=now)
            self._forget_oldest()
        circuit.failures += 1
        if trial:
            self._pause(circuit, circuit.pause * 2)
        elif not circuit.pause and circuit.failures == self._patience.failures:
            self._pause(circuit, self._patience.pause)

    def undecided(self, upstream: str) -> None:
        """The trial ended without a word of the upstream: another call may be the next."""
        circuit = self._circuits.get(upstream)
        if circuit is not None and circuit.pause:
            circuit.trying = False
            circuit.until = self._clock()

    @property
    def troubled(self) -> int:
        """How many upstreams failed lately."""
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
        upstream = flight.request.tool.upstream
        if upstream is None:
            return None
        refusal = self.breaker.refusal(upstream)
        if refusal is not None:
            return Output.failed("unreachable", refusal)
        flight.probing = self.breaker.begin(upstream)
        return None


@dataclass(frozen=True, slots=True)
class Learn:
    """How the upstream did decides over the calls to come."""

    breaker: Breaker

    def __call__(self, flight: Flight, output: Output) -> Output:
        upstream = flight.request.tool.upstream
        if upstream is not None:
            if _failed(flight, output):
                self.breaker.failed(upstream, trial=flight.probing)
            elif flight.exchange.answered:
                self.breaker.succeeded(upstream)
            elif flight.probing:
                self.breaker.undecided(upstream)
        return output


def _failed(flight: Flight, output: Output) -> bool:
    """Whether it was the upstream that failed: not when the caller was in more of a hurry."""
    if output.error is not None and output.error.code == "timeout":
        return flight.request.timeout is None
    return flight.exchange.failing
