"""This module is the port to the names under which agents know the tools of servers, packages and
documents: given once, kept for good."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from toolcrib.resolution.naming import Original


class ExposedNames(Protocol):
    async def known(self, agent_id: int) -> Mapping[Original, str]:
        """Every name that was given on this agent."""
        ...

    async def keep(self, agent_id: int, names: Mapping[Original, str]) -> None:
        """Write names down, in the place of those that the same tools had.

        Raises Conflict when another tool has got one of them meanwhile: nothing is written then.
        """
        ...
