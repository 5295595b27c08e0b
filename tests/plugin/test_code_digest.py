"""The hash of a plugin's code: another one for every change of a file, and for nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from toolcrib.plugin.changes import Origin
from toolcrib.plugin.code_digest import code_digest, is_editable


def origin(top: str, version: str = "1") -> Origin:
    return Origin(distribution=top, version=version, entry_point="x", value=f"{top}.inner:register")


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package with a module inside, on the path."""
    folder = tmp_path / "made_up_tools"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "inner.py").write_text("register = print\n")
    monkeypatch.syspath_prepend(tmp_path)
    return folder


def digest_of(version: str) -> str | None:
    """A version stands for another process: the hash is taken once in each."""
    return code_digest(origin("made_up_tools", version))


def test_every_change_of_a_file_counts(package: Path) -> None:
    first = digest_of("1")
    (package / "data.txt").write_text("no code")
    (package / "__pycache__").mkdir()
    (package / "__pycache__" / "inner.pyc").write_bytes(b"x")
    assert digest_of("2") == first
    (package / "inner.py").write_text("register = repr\n")
    changed = digest_of("3")
    (package / "more.py").write_text("")
    more = digest_of("4")
    (package / "more.py").rename(package / "renamed.py")

    assert len({first, changed, more, digest_of("5")}) == 4
    assert str(first).startswith("sha256:")
    assert digest_of("1") == first


def test_a_module_alone_and_one_that_is_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "made_up_module.py").write_text("x = 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert code_digest(origin("made_up_module")) is not None
    assert code_digest(origin("not_there_at_all")) is None


def test_who_works_in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`pip install -e` leaves a note; other installs do not."""
    for name, note in (
        ("worked-in", '{"url": "file:///x", "dir_info": {"editable": true}}'),
        ("copied", '{"url": "file:///x", "dir_info": {}}'),
        ("broken", "{"),
    ):
        folder = tmp_path / f"{name.replace('-', '_')}-1.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n")
        (folder / "direct_url.json").write_text(note)
    monkeypatch.syspath_prepend(tmp_path)

    assert [is_editable(n) for n in ("worked-in", "copied", "broken", "absent")] == [
        True,
        False,
        False,
        False,
    ]
