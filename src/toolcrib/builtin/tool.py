"""This module holds the base of built-in tools: a kit class that knows the host it works for."""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable
from typing import Any, Concatenate, ParamSpec, TypeVar

from toolcrib.errors import (
    AccessError,
    CallError,
    Conflict,
    DefinitionError,
    InvalidArguments,
    NotFound,
    RequestError,
    SecretMissing,
    SetupError,
    SourceError,
    ToolcribError,
)
from toolcrib.kit.result import ToolResult
from toolcrib.kit.tool import Tool
from toolcrib.plugin.host import Host, PluginContext, current_host
from toolcrib.plugin.lent import UNOPENED, Lent
from toolcrib.tools.call import current_call

P = ParamSpec("P")
T = TypeVar("T", bound=Tool)
Method = Callable[Concatenate[T, P], Awaitable[ToolResult]]
_OF_ARGUMENTS = (NotFound, RequestError, DefinitionError, Conflict)


class BuiltIn(Tool):
    """`context` is a plugin's; without one the host that this process opened last is asked."""

    def __init__(self, context: PluginContext | None = None) -> None:
        super().__init__()
        self._context = context

    @property
    def host(self) -> PluginContext | Host:
        """Raises SetupError where no installation is open."""
        found = self._context or current_host()
        if found is None:
            raise SetupError(UNOPENED)
        return found

    @property
    def lent(self) -> Lent:
        """What the installation lends. Raises SetupError where none is open."""
        lent = self.host.lent
        if lent is None:
            raise SetupError(UNOPENED)
        return lent

    async def setting(self, name: str) -> str:
        """The value of the caller or their group, masked in whatever leaves the call.

        Raises SecretMissing, SecretUndecryptable.
        """
        call = current_call.get()
        user_id, group_id = (call.caller.user_id, call.caller.group_id) if call else (None, None)
        value = await self.host.get_user_setting_value(name, user_id, group_id)
        if value:
            return value
        if call is None:
            raise SecretMissing(
                f"The setting {name!r} is a user's or a group's, and no call of one runs here.",
                hint="Call the tool through an agent.",
            )
        raise SecretMissing(
            f"The setting {name!r} has no value for this user or group.",
            hint=f"Set it with PUT /api/v1/settings/{name}.",
        )


def answers(method: Method[T, P]) -> Callable[Concatenate[T, P], Awaitable[ToolResult]]:
    """Let a method raise our errors: a call keeps their codes, any other caller reads them.

    What is not there, cannot be read or is taken is the arguments' fault: a model may try others.
    """

    @functools.wraps(method)
    async def answered(self: T, *places: P.args, **names: P.kwargs) -> ToolResult:
        try:
            return await method(self, *places, **names)
        except _OF_ARGUMENTS as error:
            reason = InvalidArguments(str(error))
        except (AccessError, SourceError, CallError) as error:
            reason = error
        except ToolcribError as error:
            return self.fail_response(str(error))
        if current_call.get() is not None:
            raise reason
        return self.fail_response(str(reason))

    return answered


def said(value: Any) -> dict[str, Any]:
    """A row as plain JSON: times as text."""
    return {
        key: one.isoformat() if hasattr(one, "isoformat") else one for key, one in value.items()
    }
