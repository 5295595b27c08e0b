"""The contract of BlobStore, kept by the folder and by a bucket of a real S3 server."""

from __future__ import annotations

import os
import threading
import uuid
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.s3 import make_bucket, names_in, put_object, s3_server
from toolcrib.documents.document import BlobStore
from toolcrib.documents.folder import PartFile
from toolcrib.errors import InvalidRequest, NotFound
from toolcrib.storage import open_blobs


@dataclass(kw_only=True)
class Place:
    """A store, and what really lies in it."""

    blobs: BlobStore
    names: Callable[[], list[str]]
    replace: Callable[[str, bytes], None]


@pytest.fixture(scope="module")
def s3() -> Iterator[str]:
    with s3_server() as address:
        yield address


@pytest.fixture(params=["folder", "s3"])
async def place(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Place]:
    folder = tmp_path / "documents"
    if request.param == "folder":
        blobs = open_blobs("folder", folder=folder)
        yield Place(
            blobs=blobs,
            names=lambda: [path.name for path in folder.rglob("*") if path.is_file()],
            replace=lambda key, data: (folder / key[:2] / key).write_bytes(data) and None,
        )
        await blobs.close()
        return
    address = request.getfixturevalue("s3")
    bucket = f"docs-{uuid.uuid4().hex[:12]}"
    make_bucket(address, bucket)
    blobs = open_blobs(f"s3://me:hidden@{bucket}/some/place?endpoint={address}", folder=folder)
    yield Place(
        blobs=blobs,
        names=lambda: [key.removeprefix("some/place/") for key in names_in(address, bucket)],
        replace=lambda key, data: put_object(address, bucket, f"some/place/{key}", data),
    )
    await blobs.close()
    assert not folder.exists()


async def chunks(*pieces: bytes) -> AsyncIterator[bytes]:
    for piece in pieces:
        yield piece


async def test_bytes_come_back_as_they_went_in(place: Place) -> None:
    """Every byte, whatever the pieces; the size is told."""
    data = bytes(range(256)) * 20_000
    pieces = [data[start : start + 70_001] for start in range(0, len(data), 70_001)]
    key, size = await place.blobs.write(chunks(*pieces, b""))
    assert (size, await place.blobs.read(key) == data) == (len(data), True)
    assert place.names() == [key]


async def test_an_empty_document_is_a_document(place: Place) -> None:
    """No bytes are bytes, too."""
    key, size = await place.blobs.write(chunks())
    assert (size, await place.blobs.read(key)) == (0, b"")


async def test_every_write_has_a_key_of_its_own(place: Place) -> None:
    """The same bytes twice are two documents: one may be deleted alone."""
    one, _ = await place.blobs.write(chunks(b"a"))
    two, _ = await place.blobs.write(chunks(b"a"))
    await place.blobs.delete(one)
    assert place.names() == [two]
    with pytest.raises(NotFound):
        await place.blobs.read(one)
    assert await place.blobs.read(two) == b"a"


async def test_what_is_too_large_is_not_kept(place: Place) -> None:
    """One byte over the limit is refused, and nothing of it stays; the limit itself passes."""
    with pytest.raises(InvalidRequest):
        await place.blobs.write(chunks(b"x" * 10, b"y"), limit=10)
    assert place.names() == []
    key, _ = await place.blobs.write(chunks(b"x" * 10), limit=10)
    assert await place.blobs.read(key, limit=10) == b"x" * 10


async def test_a_stream_that_breaks_leaves_nothing(place: Place) -> None:
    """What the caller's stream raises comes out, and nothing is kept."""

    async def broken() -> AsyncIterator[bytes]:
        yield b"half"
        raise ConnectionResetError("the client went away")

    with pytest.raises(ConnectionResetError):
        await place.blobs.write(broken())
    assert place.names() == []


async def test_reading_is_capped(place: Place) -> None:
    """Bytes that grew behind our back are refused instead of filling the memory."""
    key, _ = await place.blobs.write(chunks(b"small"))
    place.replace(key, b"z" * 11)
    with pytest.raises(InvalidRequest):
        await place.blobs.read(key, limit=10)


async def test_deleting_twice_is_fine(place: Place) -> None:
    """Deleting what is gone is no error."""
    key, _ = await place.blobs.write(chunks(b"a"))
    await place.blobs.delete(key)
    await place.blobs.delete(key)
    assert place.names() == []


@pytest.mark.parametrize("key", ["../../etc/passwd", "", "A" * 32, "0" * 31, f"{'0' * 32}/x"])
async def test_only_keys_that_were_made_here_are_used(place: Place, key: str) -> None:
    """Nothing from outside ends up in a path."""
    with pytest.raises(NotFound):
        await place.blobs.read(key)
    with pytest.raises(NotFound):
        await place.blobs.delete(key)


async def test_a_place_that_can_be_used_says_so(place: Place) -> None:
    """`ping` is silent, before and after the first document."""
    await place.blobs.ping()
    await place.blobs.write(chunks(b"a"))
    await place.blobs.ping()


def test_a_file_is_not_closed_under_a_thread_that_writes() -> None:
    """Its number could become another file's: what is left to write would go there."""
    out, into = os.pipe()
    file = PartFile(into)
    chunk = os.urandom(1024 * 1024)
    writing = threading.Thread(target=file.write, args=(chunk,))
    writing.start()
    with os.fdopen(out, "rb", buffering=0) as reader:
        first = reader.read(1)  # it writes, and the pipe is full before it is done
        closing = threading.Thread(target=file.close)
        closing.start()
        closing.join(0.2)
        assert closing.is_alive()
        assert first + reader.readall() == chunk
    writing.join(60)
    closing.join(60)
    assert (writing.is_alive(), closing.is_alive()) == (False, False)
    file.write(b"nowhere")
