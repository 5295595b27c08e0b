"""This module decides whether the sandbox tools are offered: not where commands cannot run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from toolcrib.builtin.tool import BuiltIn
from toolcrib.errors import SetupError
from toolcrib.plugin.rooms import Rooms
from toolcrib.plugin.services import UNOPENED


@dataclass(frozen=True, kw_only=True, slots=True)
class Choice:
    """A condition's answer: the codes to use, or none and why."""

    codes: tuple[str, ...]
    reason: str = ""
    fix: str = ""


class InSandbox(BuiltIn):
    """A tool whose code is dropped, with the reason, where the sandbox has no walls."""

    code = "sandbox"

    def __init__(self, context: Any = None) -> None:
        super().__init__(context)
        if context is not None:
            context.condition(self.code, self._available)

    @property
    def rooms(self) -> Rooms:
        """Raises SetupError where no installation is open."""
        rooms = self.host.rooms
        if rooms is None:
            raise SetupError(UNOPENED)
        return rooms

    def _available(self, situation: object) -> Choice:
        rooms = self.host.rooms
        if rooms is None:
            return Choice(codes=(), reason="no installation is open", fix="open_platform()")
        obstacle = rooms.sandboxes.obstacle
        if obstacle is not None:
            return Choice(codes=(), reason=obstacle[0], fix=obstacle[1])
        return Choice(codes=(self.code,))
