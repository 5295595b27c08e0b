"""This module finds the keys that settings and secrets are sealed with."""

from __future__ import annotations

from collections.abc import Callable

from toolcrib.secrets.keyfile import KeyFile
from toolcrib.settings import Settings


def key_file_of(settings: Settings) -> KeyFile | None:
    """The file in the data folder, unless the environment brings the keys."""
    if settings.vault_keys.get_secret_value():
        return None
    return KeyFile(settings.data_dir / "vault.key")


def keys_of(settings: Settings, key_file: KeyFile | None) -> Callable[[], tuple[str, ...]]:
    """Reads the keys, newest first."""
    if key_file is not None:
        return lambda: tuple(key_file.keys())
    given = settings.vault_keys.get_secret_value()
    keys = tuple(part.strip() for part in given.split(",") if part.strip())
    return lambda: keys
