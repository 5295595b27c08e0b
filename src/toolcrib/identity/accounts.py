"""This module holds the rows of groups, users and tokens, and the ports they are kept behind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from toolcrib.identity.roles import Role


@dataclass(frozen=True, kw_only=True, slots=True)
class Group:
    """A tenant: users, agents, settings and capabilities belong to it."""

    id: int
    name: str
    created_at: datetime
    version: int = 1


@dataclass(frozen=True, kw_only=True, slots=True)
class User:
    """A person or a machine account."""

    id: int
    name: str
    role: Role
    group_ids: frozenset[int]
    entitlements: frozenset[str]
    created_at: datetime
    has_password: bool = False
    version: int = 1


@dataclass(frozen=True, kw_only=True, slots=True)
class Token:
    """A bearer token's row. The token itself is shown once and only its SHA-256 is kept."""

    id: str
    user_id: int
    name: str
    created_at: datetime
    expires_at: datetime | None = None
    agent_id: int | None = None
    """Set: the token reaches this agent only, and `/mcp` means it."""


class GroupStore(Protocol):
    """Groups. Lists are ordered by id; `after` is the last id already seen."""

    async def create(self, *, name: str) -> Group:
        """Raises Conflict when the name is taken."""
        ...

    async def find(self, group_id: int) -> Group | None: ...

    async def list(
        self, *, ids: frozenset[int] | None = None, after: int = 0, limit: int = 200
    ) -> Sequence[Group]: ...


class UserStore(Protocol):
    """Users, their group memberships and password hashes."""

    async def create(
        self,
        *,
        name: str,
        role: Role,
        group_ids: frozenset[int],
        entitlements: frozenset[str],
        password_hash: str | None = None,
    ) -> User:
        """Raises Conflict for a taken name, NotFound for a group that does not exist."""
        ...

    async def find(self, user_id: int) -> User | None: ...

    async def find_by_name(self, name: str) -> User | None: ...

    async def list(
        self,
        *,
        group_ids: frozenset[int] | None = None,
        ids: frozenset[int] | None = None,
        after: int = 0,
        limit: int = 200,
    ) -> Sequence[User]:
        """Members of any of `group_ids`, or the users in `ids`; both None: everybody."""
        ...

    async def update(
        self,
        user_id: int,
        *,
        expected_version: int | None = None,
        role: Role | None = None,
        group_ids: frozenset[int] | None = None,
        entitlements: frozenset[str] | None = None,
    ) -> User:
        """Raises NotFound, or Conflict with the current row when the version differs."""
        ...

    async def set_password(self, user_id: int, password_hash: str) -> None: ...

    async def password_hash(self, user_id: int) -> str | None: ...

    async def count(self) -> int: ...


class TokenStore(Protocol):
    """Tokens by the SHA-256 (hex) of their text."""

    async def create(
        self,
        *,
        token_id: str,
        digest: str,
        user_id: int,
        name: str,
        expires_at: datetime | None = None,
        agent_id: int | None = None,
    ) -> Token: ...

    async def find_by_digest(self, digest: str) -> Token | None: ...

    async def list(self, user_id: int) -> Sequence[Token]: ...

    async def delete(self, token_id: str, *, user_id: int | None = None) -> bool:
        """True when a row was removed; with `user_id` only a token of that user."""
        ...
