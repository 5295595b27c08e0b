"""This module says which agent a path of the gateway names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

ROOT: Final = "/mcp"
AGENTS: Final = "/mcp/agents/"
LARGEST_ID: Final = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Place:
    """`agent_id` is None where the token has to name the agent."""

    agent_id: int | None


def place_of(path: str) -> Place | None:
    """The place that a path names, with or without a slash at its end; None: not the gateway's.

    An agent has one address: what only reads as its number (`01`, `+1`, other digits) is none.
    """
    if path in {ROOT, f"{ROOT}/"}:
        return Place(None)
    if not path.startswith(AGENTS):
        return None
    digits = path[len(AGENTS) :].removesuffix("/")
    if not (digits.isascii() and digits.isdecimal() and len(digits) < 20):
        return None
    number = int(digits)
    is_one = 0 < number <= LARGEST_ID and digits == str(number)
    return Place(number) if is_one else None


def path_of(agent_id: int) -> str:
    return f"{AGENTS}{agent_id}"
