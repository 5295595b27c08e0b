"""This module keeps the sentences that every noun of the desk says."""

from __future__ import annotations

from typing import TypeVar

from toolcrib.errors import NotFound, NotGranted
from toolcrib.grants.decide import INSTALLATION, Action, Holding, decide
from toolcrib.identity.caller import Caller

Row = TypeVar("Row")


def within_reach(row: Row | None, caller: Caller, thing: Holding | None, *, what: str) -> Row:
    """The row, or NotFound: what is out of reach answers as if it did not exist."""
    if row is None or thing is None or not decide(caller, "see", thing):
        raise NotFound.of(what)
    return row


def require(caller: Caller, action: Action, thing: Holding, *, what: str) -> None:
    """Raises NotGranted for what the caller may see and not do, NotFound for what they may not."""
    verdict = decide(caller, action, thing)
    if verdict:
        return
    if not decide(caller, "see", thing):
        raise NotFound.of(what)
    raise NotGranted(f"You may not {action} {what}: {verdict.reason}.")


def require_installation(caller: Caller, action: Action, *, what: str) -> None:
    """Raises NotGranted, alike for what is there and what is not: nothing can be probed."""
    verdict = decide(caller, action, INSTALLATION)
    if not verdict:
        raise NotGranted(f"You may not {action} {what}: {verdict.reason}.")


def require_making(caller: Caller, thing: Holding, *, what: str) -> None:
    """Raises NotGranted when the caller could not change the thing that is about to be made."""
    verdict = decide(caller, "change", thing)
    if not verdict:
        raise NotGranted(f"You may not make {what}: {verdict.reason}.")
