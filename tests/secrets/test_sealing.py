"""Values are sealed with the newest key, open with any, and fail closed without theirs."""

from __future__ import annotations

import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from toolcrib.errors import InvalidSettings, SecretUndecryptable
from toolcrib.secrets.keyfile import KeyFile
from toolcrib.secrets.sealing import Sealer, new_key


def test_an_older_key_still_opens() -> None:
    """Rotation puts a new key first and keeps the old one."""
    old, new = new_key(), new_key()
    sealed = Sealer(lambda: [old]).seal("value")

    assert Sealer(lambda: [new, old]).unseal(sealed, name="N") == "value"


def test_a_lost_key_is_named_without_the_value() -> None:
    """The error says which setting cannot be opened."""
    sealed = Sealer(lambda: [new_key()]).seal("the-value")

    with pytest.raises(SecretUndecryptable) as caught:
        Sealer(lambda: [new_key()]).unseal(sealed, name="API_KEY")

    assert "'API_KEY'" in str(caught.value)
    assert "the-value" not in str(caught.value)


def test_another_process_may_rotate_the_keys() -> None:
    """A sealer asks for the keys again when a value does not open."""
    keys = [new_key()]
    reader = Sealer(lambda: keys)
    keys.insert(0, new_key())
    sealed = Sealer(lambda: keys[:1]).seal("value")

    assert reader.unseal(sealed, name="N") == "value"


def test_a_bad_key_is_refused_and_not_shown() -> None:
    """Half a key in an error message would be half a key in a log."""
    with pytest.raises(InvalidSettings) as caught:
        Sealer(lambda: [new_key(), "not-a-key-at-all"])

    assert "number 2" in str(caught.value)
    assert "not-a-key" not in str(caught.value)


def test_the_key_file_is_its_owners_alone(tmp_path: Path) -> None:
    """The first use makes a key file of mode 0600, the second finds it."""
    first, second = (
        KeyFile(tmp_path / "data" / "vault.key"),
        KeyFile(tmp_path / "data" / "vault.key"),
    )

    assert first.keys() == second.keys()
    assert (first.created, second.created) == (True, False)
    assert stat.S_IMODE(first.path.stat().st_mode) == 0o600
    assert [p.name for p in first.path.parent.iterdir()] == ["vault.key"]


def test_adding_a_key_reaches_everyone_who_holds_the_file(tmp_path: Path) -> None:
    """Another process sees the new key first and still has the old one."""
    mine, theirs = KeyFile(tmp_path / "vault.key"), KeyFile(tmp_path / "vault.key")
    old = mine.keys()
    theirs.keys()

    mine.add()

    assert theirs.keys()[1:] == old
    assert len(theirs.keys()) == 2


def test_no_key_is_lost_when_several_are_added_at_once(tmp_path: Path) -> None:
    """What one of them sealed meanwhile could never be opened again."""
    KeyFile(tmp_path / "vault.key").keys()

    def add(_: int) -> tuple[bytes, str]:
        file, value = KeyFile(tmp_path / "vault.key"), new_key()
        file.add()
        return Sealer(file.keys).seal(value), value

    with ThreadPoolExecutor(8) as pool:
        sealed = list(pool.map(add, range(8)))

    keys = KeyFile(tmp_path / "vault.key").keys()
    assert len(set(keys)) == 9
    assert all(Sealer(lambda: keys).unseal(one, name="N") == value for one, value in sealed)


def test_an_empty_key_file_is_not_replaced(tmp_path: Path) -> None:
    """A damaged file must not be papered over with a new key: values would be lost for good."""
    path = tmp_path / "vault.key"
    path.write_text("")

    with pytest.raises(InvalidSettings):
        KeyFile(path).keys()

    assert path.read_text() == ""
