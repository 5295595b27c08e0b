"""This module holds every error of Toolcrib, grouped by who must act.

    ToolcribError
    ├── SetupError              the operator must act
    │   ├── InvalidSettings         an environment variable or setting cannot be used
    │   ├── MissingExtra            an optional dependency is not installed
    │   ├── PluginBroken            a plugin could not be loaded
    │   ├── NoSpace                 a disk is full
    │   └── SchemaOutdated          the database is not at the revision that this code needs
    ├── DefinitionError         the author of a definition must act
    │   ├── InvalidOptions          a field of the definition is wrong; `where` names it
    │   ├── InvalidToolSchema       a tool's JSON Schema cannot be used
    │   └── DuplicateName           two things claim one name
    ├── RequestError            the caller must send something else
    │   ├── InvalidRequest          a value in the request cannot be used; `where` names it
    │   └── GroupRequired           the caller has several groups and named none
    ├── AccessError             somebody must grant or supply something
    │   ├── NotAuthenticated        no valid token or session
    │   ├── NotGranted              the caller may see the thing and not do this
    │   ├── SecretMissing           a named setting or secret has no value
    │   │   └── UnresolvedPlaceholderError   the same, found in a definition (PrimeThink's name)
    │   └── SecretUndecryptable     a stored value was sealed with a key that is not here
    ├── NotFound                nothing there, or nothing that this caller may see
    ├── Conflict                the state does not allow it; `current` holds the present row
    ├── SourceError             the upstream must act
    │   ├── SourceUnreachable       no connection
    │   ├── SourceTimeout           no answer in time
    │   ├── SourceProtocolError     an answer that breaks the protocol
    │   └── EgressBlocked           the guard refused the address
    └── CallError               one call went wrong
        ├── InvalidArguments        the model may try again with other arguments
        ├── CallRefused             do not retry
        ├── CallTimeout             the deadline passed
        ├── CallFailed              the tool failed; adapt
        └── OutcomeUnknown          it may have happened

Each class has a stable `code` that surfaces show; status numbers, MCP forms and exit codes
are tables in the surfaces.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self


class ToolcribError(Exception):
    """Something went wrong in Toolcrib."""

    code: ClassVar[str] = "internal"
    brief: str | None = None
    """What a model is told of it where the message may quote somebody else: our words alone.
    None: the message is ours."""

    def __init__(
        self,
        message: str | None = None,
        *,
        hint: str | None = None,
        where: str | None = None,
    ) -> None:
        self.message = message or (type(self).__doc__ or "").strip().splitlines()[0]
        self.hint = hint
        self.where = where
        super().__init__(self.message)

    def __str__(self) -> str:
        place = f" (at {self.where})" if self.where else ""
        advice = f" {self.hint}" if self.hint else ""
        return f"{self.message}{place}{advice}"


class SetupError(ToolcribError):
    """The installation is not set up for this."""

    code = "setup"


class InvalidSettings(SetupError):
    """A setting of the installation cannot be used."""

    code = "invalid_settings"


class MissingExtra(SetupError):
    """An optional dependency is not installed."""

    code = "missing_extra"


class PluginBroken(SetupError):
    """A plugin could not be loaded."""

    code = "plugin_broken"


class NoSpace(SetupError):
    """There is no room left to store this."""

    code = "no_space"


class SchemaOutdated(SetupError):
    """The database is not at the revision that this code needs."""

    code = "schema_outdated"


class DefinitionError(ToolcribError):
    """A definition cannot be used."""

    code = "invalid_definition"


class InvalidOptions(DefinitionError):
    """A field of the definition is wrong."""

    code = "invalid_options"


class InvalidToolSchema(DefinitionError):
    """A tool's JSON Schema cannot be used."""

    code = "invalid_tool_schema"


class DuplicateName(DefinitionError):
    """Two things claim one name."""

    code = "duplicate_name"


class RequestError(ToolcribError):
    """The request cannot be served as it is."""

    code = "invalid_request"


class InvalidRequest(RequestError):
    """A value in the request cannot be used."""


class GroupRequired(RequestError):
    """The caller belongs to several groups and named none."""

    code = "group_required"


class AccessError(ToolcribError):
    """Access is missing."""

    code = "not_granted"


class NotAuthenticated(AccessError):
    """No valid token or session came with the request."""

    code = "not_authenticated"


class NotGranted(AccessError):
    """The caller may not do this."""


class SecretMissing(AccessError):
    """A named setting or secret has no value."""

    code = "secret_missing"


class UnresolvedPlaceholderError(SecretMissing):
    """A placeholder could not be resolved."""


class SecretUndecryptable(AccessError):
    """A stored value was sealed with a key that is not here."""

    code = "undecryptable"


class NotFound(ToolcribError):
    """There is no such thing within the caller's reach."""

    code = "not_found"

    @classmethod
    def of(cls, what: str, *, where: str | None = None) -> Self:
        """For `user 3` and the like: one answer for what is not there and what is out of reach."""
        place = _LISTS.get(what.partition(" ")[0])
        hint = f"GET {place} lists what there is." if place else None
        return cls(f"There is no {what} within your reach.", where=where, hint=hint)


_LISTS = {
    "agent": "/api/v1/agents",
    "capability": "/api/super-admin/capabilities",
    "chat": "/api/v1/chats",
    "group": "/api/v1/groups",
    "package": "/admin/tools",
    "secret": "/admin/secrets",
    "user": "/api/v1/users",
}


class Conflict(ToolcribError):
    """The present state does not allow this."""

    code = "conflict"

    def __init__(
        self,
        message: str | None = None,
        *,
        hint: str | None = None,
        where: str | None = None,
        current: Any = None,
    ) -> None:
        super().__init__(message, hint=hint, where=where)
        self.current = current


class SourceError(ToolcribError):
    """An upstream failed.

    `sent` says whether the request may have reached it: False: no byte of it was written; True: it
    was handed to the connection, whole or in part; None: nobody can tell.
    """

    code = "upstream_error"
    brief = "the server answers with an error"

    def __init__(
        self,
        message: str | None = None,
        *,
        hint: str | None = None,
        where: str | None = None,
        sent: bool | None = None,
    ) -> None:
        super().__init__(message, hint=hint, where=where)
        self.sent = sent


class SourceUnreachable(SourceError):
    """The upstream could not be reached."""

    code = "unreachable"
    brief = "the server is away"


class SourceTimeout(SourceError):
    """The upstream did not answer in time."""

    code = "timeout"
    brief = "the server does not answer in time"


class SourceProtocolError(SourceError):
    """The upstream's answer breaks its protocol."""

    brief = "the server does not answer as its protocol wants"


class EgressBlocked(SourceError):
    """The egress guard refused the address."""

    code = "blocked"
    brief = "the server may not be reached from here"


class CallError(ToolcribError):
    """A call went wrong."""

    code = "tool_error"


class InvalidArguments(CallError):
    """The arguments do not fit the tool's schema."""

    code = "invalid_arguments"


class CallRefused(CallError):
    """The call was refused; the same call will be refused again."""

    code = "not_granted"


class CallTimeout(CallError):
    """The tool did not answer before the deadline."""

    code = "timeout"


class CallFailed(CallError):
    """The tool failed."""


class OutcomeUnknown(CallError):
    """The call may have happened; nobody can tell."""

    code = "outcome_unknown"
