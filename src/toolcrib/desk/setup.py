"""This module gives an empty installation its first super-admin, and that one a token."""

from __future__ import annotations

from contextlib import suppress

from toolcrib.coordination.signals import Signals
from toolcrib.errors import Conflict, InvalidSettings
from toolcrib.identity.accounts import TokenStore, User, UserStore
from toolcrib.identity.roles import Role
from toolcrib.identity.tokens import NewToken, digest, new_token

ADMIN_NAME = "admin"
GIVEN_NAME = "TOOLCRIB_ADMIN_TOKEN"
"""The row of the token that the environment brings."""
_FIRST_ID = "tok_first"
"""One id for all processes that start at once: only one of them can make the row."""


async def first_token(
    users: UserStore, tokens: TokenStore, signals: Signals, *, given: str | None
) -> NewToken | None:
    """Make sure that somebody can get in; the token, if one had to be made.

    A `given` token opens the installation on every start, in the place of the one given before.
    Without it, only an installation that nobody could enter gets a new one. Raises InvalidSettings
    for a given token that is another user's.
    """
    admin = await _first_admin(users)
    if given:
        await _honour(tokens, admin, given)
        await signals.bump("identity")
        return None
    if await _has_a_way_in(users, tokens, admin):
        return None
    made = new_token()
    try:
        await tokens.create(
            token_id=_FIRST_ID, digest=made.digest, user_id=admin.id, name="first token"
        )
    except Conflict:
        return None  # another process made it, and shows it
    await signals.bump("identity")
    return NewToken(id=_FIRST_ID, digest=made.digest, text=made.text)


async def _first_admin(users: UserStore) -> User:
    """User 1 as long as that is a super-admin, else the first one who is."""
    if not await users.list(limit=1):
        try:
            return await users.create(
                name=ADMIN_NAME,
                role=Role.SUPER_ADMIN,
                group_ids=frozenset(),
                entitlements=frozenset({"chat", "idp"}),
            )
        except Conflict:
            pass  # another process starts at the same moment
    after = 0
    while rows := await users.list(after=after):
        for row in rows:
            if row.role is Role.SUPER_ADMIN:
                return row
        after = rows[-1].id
    raise InvalidSettings("There is no super-admin in this database.")


async def _honour(tokens: TokenStore, admin: User, given: str) -> None:
    key = digest(given)
    found = await tokens.find_by_digest(key)
    if found is not None:
        if found.user_id != admin.id or found.agent_id is not None or found.expires_at is not None:
            raise InvalidSettings(
                f"{GIVEN_NAME} is the token {found.id!r} of user {found.user_id} already.",
                hint="Set another one.",
            )
        return
    for row in await tokens.list(admin.id):
        if row.name == GIVEN_NAME:
            await tokens.delete(row.id)
    with suppress(Conflict):  # another process stored the same token
        await tokens.create(token_id=new_token().id, digest=key, user_id=admin.id, name=GIVEN_NAME)


async def _has_a_way_in(users: UserStore, tokens: TokenStore, admin: User) -> bool:
    if admin.has_password or await users.count() > 1:
        return True
    return bool(await tokens.list(admin.id))
