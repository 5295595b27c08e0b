"""This module decides whether tools that need something of the machine are offered.

Where it is missing their code is dropped with the reason, so that nobody is offered what must fail.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from toolcrib.builtin.tool import BuiltIn
from toolcrib.errors import SetupError
from toolcrib.plugin.lent import UNOPENED
from toolcrib.plugin.rooms import Rooms

Obstacle = tuple[str, str]
"""Why something is not there, and what would bring it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Choice:
    """A condition's answer: the codes to use, or none and why."""

    codes: tuple[str, ...]
    reason: str = ""
    fix: str = ""


class InRoom(BuiltIn):
    """A tool that works in what a chat has of its own."""

    code: ClassVar[str]
    """The code that is dropped where there is an obstacle."""
    decides: ClassVar[bool] = True
    """Of the tools of one code one brings its condition."""

    def __init__(self, context: Any = None) -> None:
        super().__init__(context)
        if context is not None and self.decides:
            context.condition(self.code, self._choice)

    @property
    def rooms(self) -> Rooms:
        """Raises SetupError where no installation is open."""
        rooms = self.host.rooms
        if rooms is None:
            raise SetupError(UNOPENED)
        return rooms

    def obstacle(self, rooms: Rooms) -> Obstacle | None:
        """What stands in the way on this machine."""
        return rooms.sandboxes.obstacle

    def _choice(self, situation: object) -> Choice:
        rooms = self.host.rooms
        if rooms is None:
            return Choice(codes=(), reason="no installation is open", fix="Open a platform.")
        obstacle = self.obstacle(rooms)
        if obstacle is not None:
            return Choice(codes=(), reason=obstacle[0], fix=obstacle[1])
        return Choice(codes=(self.code,))


class InSandbox(InRoom):
    """A tool that works in the chat's sandbox."""

    code = "sandbox"
