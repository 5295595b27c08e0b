"""Circuits of upstreams: when they open, what goes through, how they close."""

from __future__ import annotations

import pytest

from toolcrib.invocation.breaker import Breaker, Patience

HOST = "The upstream https://api.example.com"
PATIENCE = Patience(failures=3, window=60, pause=5, longest=12, trial=30)


class Clock:
    """Seconds that pass when a test says so."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def breaker(clock: Clock) -> Breaker:
    return Breaker(PATIENCE, clock=clock)


def fail(breaker: Breaker, times: int = 3, *, trial: bool = False) -> None:
    for _ in range(times):
        breaker.failed(HOST, trial=trial)


def test_it_opens_at_the_third_failure(breaker: Breaker) -> None:
    """Two are bad luck; the sentence names the upstream, the count and the wait."""
    fail(breaker, 2)
    assert breaker.refusal(HOST) is None

    fail(breaker, 1)

    expected = f"{HOST} failed 3 times in a row; next try in 5 s."
    assert breaker.refusal(HOST) == expected
    assert breaker.refusal("The upstream https://other.example.com") is None


def test_a_success_in_between_starts_the_count_anew(breaker: Breaker) -> None:
    """In a row means in a row."""
    fail(breaker, 2)
    breaker.succeeded(HOST)
    fail(breaker, 2)

    assert breaker.refusal(HOST) is None


def test_old_failures_do_not_count(breaker: Breaker, clock: Clock) -> None:
    """Three failures in three hours are no outage."""
    fail(breaker, 2)
    clock.now += 61
    fail(breaker, 2)

    assert breaker.refusal(HOST) is None


def test_one_call_tries_and_the_others_wait(breaker: Breaker, clock: Clock) -> None:
    """After the pause exactly one call goes through."""
    fail(breaker)
    clock.now += 5
    assert breaker.refusal(HOST) is None
    assert breaker.begin(HOST) is True

    expected = f"{HOST} failed 3 times in a row; it is being tried now."
    assert breaker.refusal(HOST) == expected


def test_a_good_trial_closes_it(breaker: Breaker, clock: Clock) -> None:
    """Afterwards it is as if nothing had been."""
    fail(breaker)
    clock.now += 5
    breaker.begin(HOST)
    breaker.succeeded(HOST)

    assert (breaker.refusal(HOST), breaker.begin(HOST)) == (None, False)


def test_bad_trials_make_longer_pauses_up_to_the_longest(breaker: Breaker, clock: Clock) -> None:
    """5 seconds, then 10, then 12 and not 20."""
    fail(breaker)
    waits: list[str] = []
    for _ in range(3):
        waits.append(str(breaker.refusal(HOST)).rpartition("in ")[2])
        clock.now += 12
        assert breaker.begin(HOST) is True
        fail(breaker, 1, trial=True)

    assert [*waits, str(breaker.refusal(HOST)).rpartition("in ")[2]] == [
        "5 s.",
        "10 s.",
        "12 s.",
        "12 s.",
    ]


def test_a_trial_without_a_verdict_is_followed_by_another(breaker: Breaker, clock: Clock) -> None:
    """A trial whose caller went away says nothing about the upstream."""
    fail(breaker)
    clock.now += 5
    breaker.begin(HOST)
    breaker.undecided(HOST)

    assert (breaker.refusal(HOST), breaker.begin(HOST)) == (None, True)


def test_a_trial_that_never_ends_is_given_up(breaker: Breaker, clock: Clock) -> None:
    """Nothing can keep a circuit open for ever."""
    fail(breaker)
    clock.now += 5
    breaker.begin(HOST)
    clock.now += 30

    assert breaker.refusal(HOST) is None


def test_stragglers_do_not_lengthen_the_pause(breaker: Breaker) -> None:
    """Calls that were on their way when it opened are counted, and that is all."""
    fail(breaker, 6)

    assert breaker.refusal(HOST) == f"{HOST} failed 6 times in a row; next try in 5 s."


def test_it_can_be_switched_off(clock: Clock) -> None:
    """0 failures: never."""
    breaker = Breaker(Patience(failures=0), clock=clock)
    fail(breaker, 100)

    assert breaker.refusal(HOST) is None


def test_upstreams_that_come_and_go_are_forgotten(breaker: Breaker, clock: Clock) -> None:
    """What is kept does not grow with the number of hosts that ever failed."""
    for number in range(10_000):
        breaker.failed(f"host-{number}:443", trial=False)

    assert breaker.troubled <= 4096
