"""This module holds the rows of logins at other servers, sealed, and the port they are kept behind.

A login belongs to a user, to a group, or to the installation. One process at a time may renew it:
it leases the row first, and what it brings back counts only while the lease is its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, Protocol

LoginStatus = Literal["connected", "needs_login", "failed"]


@dataclass(frozen=True, kw_only=True, slots=True)
class LoginOwner:
    """Whose login it is; neither: the installation's."""

    user_id: int | None = None
    group_id: int | None = None

    @property
    def key(self) -> str:
        """`user:5`, `group:3` or `installation`."""
        if self.user_id is not None:
            return f"user:{self.user_id}"
        return "installation" if self.group_id is None else f"group:{self.group_id}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Login:
    """A row. `sealed` is ciphertext of all that is secret; None when there is nothing to use."""

    ref: str
    """`mcp:<capability id>` or `package:<slug>`."""
    owner: LoginOwner
    issuer: str
    resource: str
    """The address that the login is for; it goes nowhere else."""
    scopes: tuple[str, ...] = ()
    status: LoginStatus
    error: str | None = None
    expires_at: datetime | None = None
    """When the access token ends."""
    renewable: bool = False
    """Whether it can be renewed without a person."""
    sealed: bytes | None = field(default=None, repr=False)
    made: str
    """Another text with every login: what hangs on the older one is not used any more."""
    more_scopes: tuple[str, ...] = ()
    """What the server wanted besides for some call: the next login asks for it too."""
    version: int = 1
    updated_at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class LoginDraft:
    """What is written of a login. `sealed` None: what it had is forgotten."""

    issuer: str
    resource: str
    scopes: tuple[str, ...]
    status: LoginStatus
    error: str | None = None
    expires_at: datetime | None = None
    renewable: bool = False
    sealed: bytes | None = field(default=None, repr=False)
    made: str


class LoginStore(Protocol):
    """Logins by (ref, owner), registered clients by server."""

    async def find(self, ref: str, owner: LoginOwner) -> Login | None: ...

    async def list(self, owners: Sequence[LoginOwner]) -> Sequence[Login]: ...

    async def put(self, ref: str, owner: LoginOwner, draft: LoginDraft) -> Login:
        """Make it or replace it; whoever leases the older one has lost it."""
        ...

    async def begin(self, ref: str, owner: LoginOwner, draft: LoginDraft) -> None:
        """Make it unless it is there."""
        ...

    async def lease(self, login: Login, *, holder: str, until: datetime) -> bool:
        """Take the right to renew this version; False while another has it, or it changed."""
        ...

    async def settle(self, login: Login, draft: LoginDraft, *, holder: str) -> bool:
        """Write what the leaseholder brought; False when the lease or the version is not its."""
        ...

    async def release(self, login: Login, *, holder: str) -> None: ...

    async def delete(self, ref: str, owner: LoginOwner) -> bool: ...

    async def want(self, login: Login, scopes: Sequence[str]) -> None:
        """Write down which further scopes the server wants; a new login ends that."""
        ...

    async def client(self, issuer: str, redirect_uri: str) -> bytes | None:
        """The sealed client that was registered there for this redirect address."""
        ...

    async def keep_client(self, issuer: str, redirect_uri: str, sealed: bytes) -> None: ...

    async def forget_client(self, issuer: str, redirect_uri: str) -> None: ...

    async def sealed(self) -> Sequence[tuple[str, bytes]]:
        """Every ciphertext with the name of its place, for rotation and for the check of keys."""
        ...

    async def replace_sealed(self, place: str, *, before: bytes, after: bytes) -> None:
        """Unless it was changed since it was read."""
        ...
