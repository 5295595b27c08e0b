"""A disk that is full: the caller is told so, nothing is half there, and room mends it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.crib import open_crib, problem_of
from tests.support.services import missing
from toolcrib.settings import Settings

MIB = 1024 * 1024


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 4 MiB. Mounting one needs rights that not everybody has."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=4m,mode=700", "tmpfs", str(place)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        missing("a file system cannot be mounted here")
    yield place
    subprocess.run(["umount", "--lazy", str(place)], check=True)


def left_in(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


async def test_an_upload_that_does_not_fit(settings: Settings, small_disk: Path) -> None:
    """507, and neither bytes nor row; a smaller one fits afterwards."""
    full = settings.model_copy(update={"data_dir": small_disk})
    async with open_crib(full) as crib:
        api = (await crib.somebody(1)).api
        agent = (await api.post("/api/v1/agents", json={"name": "a"})).json()["id"]
        chat = (await api.post("/api/v1/chats", json={"agent_id": agent})).json()["id"]
        path = f"/api/v1/chats/{chat}/documents"

        refused = await api.post(path, files={"file": ("big.bin", b"x" * 5 * MIB)})
        nothing = (await api.get(path)).json()["items"], left_in(small_disk / "documents")
        kept = await api.post(path, files={"file": ("small.bin", b"x" * 1000)})

    assert problem_of(refused) == (507, "no_space", None)
    assert refused.json()["detail"] == (
        "There is no room left for documents: No space left on device."
    )
    assert (nothing, kept.status_code) == (([], []), 201)


async def test_a_database_without_room(settings: Settings, small_disk: Path) -> None:
    """What cannot be written is refused with the reason; reading goes on; room mends it."""
    full = settings.model_copy(update={"data_dir": small_disk})
    async with open_crib(full) as crib:
        api = (await crib.somebody(1)).api
        names = [f"group {number}" for number in range(400)]
        with (small_disk / "ballast").open("wb", buffering=0) as ballast:
            while True:
                try:
                    ballast.write(b"x" * 4096)
                except OSError:
                    break
        answers = [await api.post("/api/v1/groups", json={"name": name}) for name in names]
        refused = [answer for answer in answers if answer.status_code != 201]
        made = sum(answer.status_code == 201 for answer in answers)
        seen = 0
        cursor: str | None = ""
        while cursor is not None:
            query = {"cursor": cursor} if cursor else {}
            page = (await api.get("/api/v1/groups", params={"limit": 200} | query)).json()
            seen, cursor = seen + len(page["items"]), page["next_cursor"]
        (small_disk / "ballast").unlink()
        again = await api.post("/api/v1/groups", json={"name": "afterwards"})

    assert {problem_of(answer) for answer in refused} == {(507, "no_space", None)}
    assert (seen, again.status_code) == (made, 201)


CHILD = """
import asyncio, json, pathlib, resource, sys
from toolcrib.errors import NoSpace
from toolcrib.documents.folder import FolderBlobStore

async def main(folder):
    store = FolderBlobStore(folder)
    async def chunks():
        for _ in range(3):
            yield b"x" * 1024 * 1024
    resource.setrlimit(resource.RLIMIT_FSIZE, (2 * 1024 * 1024, 2 * 1024 * 1024))
    try:
        await store.write(chunks())
    except NoSpace as error:
        said = error.message
    left = [str(path) for path in folder.rglob("*") if path.is_file()]
    print(json.dumps({"said": said, "left": left}))

asyncio.run(main(pathlib.Path(sys.argv[1])))
"""


def test_a_limit_of_the_process_is_a_full_disk(tmp_path: Path) -> None:
    """`ulimit -f`, met by a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", CHILD, str(tmp_path)], capture_output=True, text=True, check=True
    )

    assert json.loads(done.stdout) == {
        "said": "There is no room left for documents: File too large.",
        "left": [],
    }
