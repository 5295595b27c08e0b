"""This module brings an installation into the state that commands and servers need: its data
directory, its tables, its key, its first user."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from toolcrib.errors import InvalidSettings

if TYPE_CHECKING:
    from pathlib import Path

    from toolcrib.platform import Platform
    from toolcrib.settings import Settings


@dataclass(frozen=True, kw_only=True, slots=True)
class Prepared:
    """What was found and made. `admin_token` is there once, for an empty installation."""

    database: str
    revision_before: str | None
    revision: str
    new_key_file: Path | None
    admin_token: str | None
    empty: bool
    """Whether it has no agents yet."""


async def prepare(settings: Settings) -> Prepared:
    """Make what is missing. Two processes may do this at once; one of them makes each thing."""
    from toolcrib.storage import HEAD, revision  # noqa: PLC0415 - `--help` does without

    make_data_dir(settings)
    before = await revision(settings.database)
    from toolcrib.platform import open_platform  # noqa: PLC0415

    async with open_platform(settings, wait_ready=False, background=False) as platform:
        token = await first_user(platform)
        agents = await platform.storage.agents.list(group_ids=None, creator_id=None, limit=1)
        file = platform.key_file
        return Prepared(
            database=str(platform.storage.database.address),
            revision_before=before,
            revision=HEAD,
            new_key_file=file.path if file is not None and file.created else None,
            admin_token=token,
            empty=not agents,
        )


async def first_user(platform: Platform) -> str | None:
    """See that user 1 exists. Returns the text of a token when one was made for them."""
    from toolcrib.desk.furnishing import furnish  # noqa: PLC0415
    from toolcrib.desk.setup import first_token  # noqa: PLC0415

    storage = platform.storage
    if platform.settings.builtin_tools:
        await furnish(storage.users, storage.capabilities, storage.signals)
    given = platform.settings.admin_token.get_secret_value() or None
    made = await first_token(storage.users, storage.tokens, storage.signals, given=given)
    return made.text if made else None


def make_data_dir(settings: Settings) -> None:
    """Make the data directory for its owner alone. Raises InvalidSettings."""
    folder = settings.data_dir
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise InvalidSettings(
            f"The data directory {str(folder)!r} cannot be made: {error.strerror}.",
            hint="Set TOOLCRIB_DATA_DIR to a place you may write to.",
        ) from None
