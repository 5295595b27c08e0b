"""Folders of sandboxes: whole from the first moment, whoever makes them, and gone for good."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from pathlib import Path

import pytest

from tests.support.walls import attacker, isolation
from toolcrib.errors import CallRefused
from toolcrib.isolation.folders import Folders
from toolcrib.isolation.sandboxes import Key, Sandboxes
from toolcrib.platform.rooms import sandboxes_of
from toolcrib.settings import Settings
from toolcrib.storage import open_storage

FEW, MANY = 4, 150
RACER = """
import os, sys, time
from pathlib import Path
from toolcrib.isolation.folders import Folders

place, owner, start, many = sys.argv[1:]
owner, folders = int(owner), Folders(Path(place))
while time.time() < float(start):
    pass
for number in range(int(many)):
    found = os.stat(folders.made(f"{number}-a", owner))
    assert (found.st_uid, found.st_mode & 0o777) == (owner, 0o700), (number, found)
"""


async def test_processes_that_make_one_folder_at_once(tmp_path: Path) -> None:
    """Each gets it, and never sees it before it is its owner's."""
    owner = 12345 if os.getuid() == 0 else os.getuid()
    place, start = tmp_path / "s", time.time() + 3
    arguments = (RACER, str(place), str(owner), str(start), str(MANY))
    racers = [
        await asyncio.create_subprocess_exec(
            sys.executable, "-c", *arguments, stderr=asyncio.subprocess.PIPE
        )
        for _ in range(FEW)
    ]
    errors = [(await racer.communicate())[1].decode() for racer in racers]

    assert errors == [""] * FEW
    assert sorted(Folders(place).names()) == sorted(f"{n}-a" for n in range(MANY))


def there(place: Path) -> list[str]:
    """Everything in the folder, what nobody should see too."""
    return sorted(path.name for path in place.iterdir())


def test_a_process_that_died_while_it_made_one(tmp_path: Path) -> None:
    """What it left is in nobody's way, and no chat's folder."""
    (tmp_path / ".new-7-a").mkdir()
    folders = Folders(tmp_path)

    assert folders.names() == []
    assert folders.made("7-a", None).exists()
    assert there(tmp_path) == ["7-a"]


async def test_a_folder_goes_once(tmp_path: Path) -> None:
    """Of two who remove it one does; what an interrupted end left goes at the next look."""
    folders = Folders(tmp_path)
    (folders.made("7-a", None) / "file").write_text("x")
    (tmp_path / ".gone-8-b").mkdir()

    assert sorted(await asyncio.gather(*(folders.remove("7-a") for _ in range(3)))) == [
        False,
        False,
        True,
    ]
    assert there(tmp_path) == [".gone-8-b"]
    await folders.clear()
    assert there(tmp_path) == []


async def test_a_chat_that_is_gone_gets_no_folder(tmp_path: Path) -> None:
    """Whoever runs a command for it is told, and nothing stays behind."""
    here = True

    async def lives(key: Key) -> bool:
        return here

    one = attacker(tmp_path / "s")
    sandboxes = Sandboxes(tmp_path / "s", look=isolation, lives=lives)
    assert (await sandboxes.run(one.key, ("/bin/sh", "-c", "touch made"))).code == 0

    here = False
    await sandboxes.end(one.key)
    with pytest.raises(CallRefused, match="the chat is gone"):
        await sandboxes.run(one.key, ("/bin/sh", "-c", "touch again"))

    assert there(tmp_path / "s") == []


async def test_a_chat_that_goes_while_a_command_begins(tmp_path: Path) -> None:
    """Its folder was made, and whoever deleted the chat had looked for it before."""
    asked, deleted = asyncio.Event(), asyncio.Event()

    async def lives(key: Key) -> bool:
        asked.set()
        await deleted.wait()
        return False

    one = attacker(tmp_path / "s")
    sandboxes = Sandboxes(tmp_path / "s", look=isolation, lives=lives)
    async with asyncio.TaskGroup() as group:
        running = group.create_task(_refused(sandboxes, one.key))
        await asked.wait()
        deleted.set()

    assert running.result() == "No command is run: the chat is gone."
    assert there(tmp_path / "s") == []


async def _refused(sandboxes: Sandboxes, key: Key) -> str:
    with pytest.raises(CallRefused) as refused:
        await sandboxes.run(key, ("/bin/true",))
    return refused.value.message


async def test_a_chat_without_a_row_has_no_sandbox(settings: Settings) -> None:
    """By the database, so in every process; a chat of another uuid is another chat."""
    isolation()
    storage = await open_storage(f"sqlite:///{settings.data_dir / 'toolcrib.db'}")
    try:
        sandboxes = sandboxes_of(settings, storage.chats)
        with pytest.raises(CallRefused, match="the chat is gone"):
            await sandboxes.run(Key(number=7, uuid="0000000a"), ("/bin/true",))
        assert sandboxes.kept() == []
    finally:
        await storage.close()
