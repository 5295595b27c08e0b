"""This module seals values with the installation's keys: newest first, older ones still open."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from cryptography.fernet import Fernet, InvalidToken, MultiFernet

from toolcrib.errors import InvalidSettings, SecretUndecryptable


class Sealer:
    """Encrypts and decrypts with Fernet keys (32 bytes, URL-safe base64).

    `keys` gives the present keys, newest first; it is asked again when a value does not open, for
    another process may have rotated them. Raises InvalidSettings for a key that is not one; the
    message never shows the key.
    """

    def __init__(self, keys: Callable[[], Sequence[str]]) -> None:
        self._keys = keys
        self._present: tuple[str, ...] = ()
        self._fernet = self._loaded()

    def seal(self, value: str) -> bytes:
        """Seal with the newest key there is."""
        return self._loaded().encrypt(value.encode())

    def unseal(self, sealed: bytes, *, name: str) -> str:
        """Raises SecretUndecryptable naming `name`."""
        try:
            return self._fernet.decrypt(sealed).decode()
        except InvalidToken:
            return self._unsealed_anew(sealed, name)

    def _unsealed_anew(self, sealed: bytes, name: str) -> str:
        try:
            return self._loaded().decrypt(sealed).decode()
        except InvalidToken:
            raise SecretUndecryptable(
                f"{name!r} was sealed with a key that is not here.",
                hint="Put the old key back into TOOLCRIB_VAULT_KEYS, or store the value again.",
            ) from None

    def _loaded(self) -> MultiFernet:
        keys = tuple(self._keys())
        if not keys:
            raise InvalidSettings("No vault key is set.", hint="Set TOOLCRIB_VAULT_KEYS.")
        if keys != self._present:
            self._fernet = MultiFernet([_fernet(key, n) for n, key in enumerate(keys)])
            self._present = keys
        return self._fernet

    def __repr__(self) -> str:
        return "Sealer(…)"


def new_key() -> str:
    return Fernet.generate_key().decode()


def _fernet(key: str, place: int) -> Fernet:
    try:
        return Fernet(key)
    except ValueError:
        raise InvalidSettings(
            f"Vault key number {place + 1} is not a key.",
            where="TOOLCRIB_VAULT_KEYS",
            hint="Make one with `toolcrib secrets new-key`.",
        ) from None
