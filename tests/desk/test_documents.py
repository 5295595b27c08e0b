"""Documents: bytes and row come and go together, names are made safe to show."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.tenants import Tenants
from toolcrib.desk.documents import shown_name, shown_type
from toolcrib.errors import InvalidRequest, NotFound


async def chunks(*pieces: bytes) -> AsyncIterator[bytes]:
    for piece in pieces:
        yield piece


def kept(tenants: Tenants) -> list[Path]:
    folder = tenants.crib.platform.settings.data_dir / "documents"
    return [path for path in folder.rglob("*") if path.is_file()]


async def test_a_document_comes_back_byte_for_byte(tenants: Tenants) -> None:
    """In its chat, to its user, and to nobody else."""
    documents = tenants.crib.desk.documents
    chat = await tenants.chat(tenants.user_a, await tenants.agent(tenants.user_a, tenants.a))
    caller = tenants.user_a.caller

    row = await documents.add(
        caller, chat.id, filename="a.bin", mime_type="image/png", chunks=chunks(b"\0\xff", b"z")
    )

    assert await documents.read(caller, chat.id, row.id) == b"\0\xffz"
    assert (row.size, row.mime_type) == (3, "image/png")
    for person in (tenants.root, tenants.admin_a, tenants.user_b):
        with pytest.raises(NotFound):
            await documents.read(person.caller, chat.id, row.id)
        with pytest.raises(NotFound):
            await documents.add(
                person.caller, chat.id, filename="x", mime_type="", chunks=chunks(b"")
            )


async def test_a_document_is_found_in_its_own_chat_only(tenants: Tenants) -> None:
    """Its id under another chat of the same user finds nothing."""
    documents = tenants.crib.desk.documents
    agent = await tenants.agent(tenants.user_a, tenants.a)
    one, two = await tenants.chat(tenants.user_a, agent), await tenants.chat(tenants.user_a, agent)
    caller = tenants.user_a.caller
    row = await documents.add(caller, one.id, filename="a", mime_type="", chunks=chunks(b"a"))

    with pytest.raises(NotFound):
        await documents.get(caller, two.id, row.id)
    with pytest.raises(NotFound):
        await documents.delete(caller, two.id, row.id)
    assert [d.id for d in await documents.list(caller, one.id)] == [row.id]


async def test_deleting_takes_row_and_bytes(tenants: Tenants) -> None:
    """Of one document, and of all documents of a deleted chat."""
    desk = tenants.crib.desk
    chat = await tenants.chat(tenants.user_a, await tenants.agent(tenants.user_a, tenants.a))
    caller = tenants.user_a.caller
    for name in ("one", "two"):
        await desk.documents.add(caller, chat.id, filename=name, mime_type="", chunks=chunks(b"x"))
    assert len(kept(tenants)) == 2

    await desk.documents.delete(caller, chat.id, 1)
    assert len(kept(tenants)) == 1
    await desk.chats.delete(caller, chat.id)
    assert kept(tenants) == []


async def test_nothing_stays_of_a_document_that_failed(tenants: Tenants) -> None:
    """Neither when its sender broke off, nor when its chat went while it came."""
    desk = tenants.crib.desk
    chat = await tenants.chat(tenants.user_a, await tenants.agent(tenants.user_a, tenants.a))
    caller = tenants.user_a.caller

    async def broken() -> AsyncIterator[bytes]:
        yield b"half"
        raise InvalidRequest("The sender left.")

    async def outlived() -> AsyncIterator[bytes]:
        yield b"whole"
        await desk.chats.delete(caller, chat.id)

    with pytest.raises(InvalidRequest):
        await desk.documents.add(caller, chat.id, filename="a", mime_type="", chunks=broken())
    with pytest.raises(NotFound):
        await desk.documents.add(caller, chat.id, filename="a", mime_type="", chunks=outlived())
    assert kept(tenants) == []


@pytest.mark.parametrize(
    ("given_name", "shown"),
    [
        ("report.pdf", "report.pdf"),
        ("../../etc/passwd", "passwd"),
        ("C:\\Users\\me\\été.docx", "été.docx"),
        ("a\r\nX-Evil: 1.txt", "aX-Evil: 1.txt"),
        ("evil\u202egnp.exe", "evilgnp.exe"),
        ("..", "document"),
        ("", "document"),
        ("x" * 300 + ".pdf", "x" * 251 + ".pdf"),
    ],
)
def test_names_are_kept_and_made_safe(given_name: str, shown: str) -> None:
    """The name stays readable; paths, control characters and direction marks go."""
    assert shown_name(given_name) == shown


@given(st.text(max_size=400))
def test_every_name_can_be_shown(name: str) -> None:
    """Whatever was sent: one line, no path, within the limit, never empty."""
    shown = shown_name(name)
    assert shown.isprintable()
    assert 0 < len(shown) <= 255
    assert not set(shown) & {"/", "\\"}


@pytest.mark.parametrize(
    ("declared", "shown"),
    [
        ("Text/HTML; charset=utf-8", "text/html"),
        ("", "application/octet-stream"),
        ("text/html\r\nX: y", "application/octet-stream"),
        ("a/b/c", "application/octet-stream"),
    ],
)
def test_media_types_are_media_types(declared: str, shown: str) -> None:
    """What is none becomes that of unknown bytes."""
    assert shown_type(declared) == shown
