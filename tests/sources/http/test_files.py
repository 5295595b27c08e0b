"""This module uploads documents: only the chat's own, whole, and never over the cap."""

from __future__ import annotations

import email
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from email.policy import HTTP
from pathlib import Path
from typing import Any

import pytest

from tests.sources.http.conftest import Bench
from toolcrib.documents.document import MAX_BYTES, Document
from toolcrib.documents.folder import FolderBlobStore
from toolcrib.errors import NotFound
from toolcrib.sources.http import files
from toolcrib.sources.http.api import ApiKind
from toolcrib.sources.http.files import ChatDocuments
from toolcrib.sources.http.multipart import FilePart, write_multipart
from toolcrib.testing.upstream import RecordedRequest

OPTIONS: dict[str, Any] = {
    "name": "send",
    "method": "POST",
    "files": {
        "file": {"required": True, "description": "The document to send"},
        "extra": {"multiple": True},
    },
    "body": {
        "caption": {"type": "string"},
        "public": {"type": "boolean"},
        "size": {"type": "number"},
    },
}


class Rows:
    """The documents of an installation, by id."""

    def __init__(self) -> None:
        self.documents: dict[int, Document] = {}

    async def find(self, document_id: int) -> Document | None:
        return self.documents.get(document_id)


class Shelf:
    """Real documents in a folder."""

    def __init__(self, root: Path) -> None:
        self.rows = Rows()
        self.blobs = FolderBlobStore(root)
        self.reader = ChatDocuments(documents=self.rows, blobs=self.blobs)  # type: ignore[arg-type]

    async def put(self, document_id: int, data: bytes, *, chat: int, size: int = 0) -> None:
        async def chunks() -> AsyncIterator[bytes]:
            yield data

        key, length = await self.blobs.write(chunks())
        self.rows.documents[document_id] = Document(
            id=document_id,
            chat_id=chat,
            user_id=1,
            filename=f"d{document_id}.bin",
            mime_type="application/x-test",
            size=size or length,
            key=key,
            created_at=datetime.now(UTC),
        )


@pytest.fixture
async def shelf(tmp_path: Path) -> Shelf:
    shelf = Shelf(tmp_path)
    await shelf.put(1, b"one", chat=3)
    await shelf.put(2, bytes(range(256)), chat=3)
    await shelf.put(9, b"somebody else's", chat=4)
    await shelf.put(5, b"too large", chat=3, size=MAX_BYTES + 1)
    return shelf


def parts_of(request: RecordedRequest) -> list[tuple[str, str | None, bytes]]:
    """The multipart body as the standard library reads it."""
    head = f"Content-Type: {request.header('Content-Type')}\r\n\r\n".encode()
    message = email.message_from_bytes(head + request.body, policy=HTTP)
    return [
        (
            str(part.get_param("name", header="content-disposition")),
            part.get_filename(),
            part.get_payload(decode=True),  # type: ignore[misc]
        )
        for part in message.iter_parts()  # type: ignore[attr-defined]
    ]


async def test_fields_and_documents_come_as_parts(bench: Bench, shelf: Shelf) -> None:
    """Text fields as text, every document a part of its own, equal names for several."""
    source = await bench.api({**OPTIONS, "url": bench.url("/up")}, documents=shelf.reader)
    arguments = {"file": 1, "extra": [2, 1], "caption": "", "public": False, "size": 1e-7}
    request = await bench.sent(source, arguments, chat=3)
    assert parts_of(request) == [
        ("public", None, b"false"),
        ("size", None, b"0.0000001"),
        ("file", "d1.bin", b"one"),
        ("extra", "d2.bin", bytes(range(256))),
        ("extra", "d1.bin", b"one"),
    ]


@pytest.mark.parametrize(
    ("arguments", "chat", "code", "words"),
    [
        ({}, 3, "invalid_arguments", "missing required file field 'file'"),
        ({"file": None}, 3, "invalid_arguments", "missing required file field 'file'"),
        ({"file": 9}, 3, "invalid_arguments", "The document 9 is not in this chat."),
        ({"file": 77}, 3, "invalid_arguments", "The document 77 is not in this chat."),
        (
            {"file": 1, "extra": [2, 9]},
            3,
            "invalid_arguments",
            "The document 9 is not in this chat.",
        ),
        ({"file": 5}, 3, "invalid_arguments", f"The document 5 is larger than {MAX_BYTES} bytes."),
        ({"file": 1}, None, "not_granted", "files can only be sent from a chat."),
    ],
)
async def test_a_document_that_may_not_go_makes_no_request(
    bench: Bench,
    shelf: Shelf,
    arguments: dict[str, Any],
    chat: int | None,
    code: str,
    words: str,
) -> None:
    """Another chat's, unknown, over the cap, or outside a chat: the sentence, and nothing sent."""
    source = await bench.api({**OPTIONS, "url": bench.url("/up")}, documents=shelf.reader)
    output = await bench.call(source, arguments, chat=chat)
    assert output.error is not None
    assert (output.error.code, output.text) == (code, f"API request failed: {words}")
    assert bench.upstream.requests == []


async def test_the_model_is_asked_for_document_ids(bench: Bench, shelf: Shelf) -> None:
    """One id, or a list of them; text is no document."""
    source = await bench.api({**OPTIONS, "url": bench.url("/up")}, documents=shelf.reader)
    properties = source.tool.spec.input_schema["properties"]
    assert properties["file"] == {"type": "integer", "description": "The document to send"}
    assert properties["extra"]["type"] == ["array", "null"]
    output = await bench.call(source, {"file": "secret text"}, chat=3)
    assert output.error is not None
    assert output.error.code == "invalid_arguments"


async def test_without_documents_the_tool_is_skipped_with_a_reason(bench: Bench) -> None:
    """Where nobody can bring documents, an upload is not offered; elsewhere it needs a chat."""
    definition = {"code": "up", "name": "Up", "options": {**OPTIONS, "url": bench.url("/up")}}
    kind = ApiKind(bench.client)
    listing = await (await kind.open(definition, {})).list()
    assert listing.tools == ()
    assert listing.skipped[0].ref == "api:up/send"
    assert "chat" in listing.skipped[0].reason
    assert [d.needs_chat for d in kind.describe(definition)] == [True]


def test_names_cannot_end_their_header() -> None:
    """Quotes and line breaks are escaped, and a type that is none is not sent."""
    body, _ = write_multipart(
        [('a"\r\nX: 1', "v")],
        [FilePart(field="f", filename='x"\r\ny\0', mime_type="a/b\r\nX: 1", data=b"")],
    )
    assert b'name="a%22%0D%0AX: 1"\r\n' in body
    assert b'filename="x%22%0D%0Ay%00"\r\nContent-Type: application/octet-stream\r\n' in body


async def test_a_reader_that_lies_about_the_size_is_caught(bench: Bench) -> None:
    """The cap holds for the bytes themselves."""

    class Reader:
        async def fetch(self, document_id: int, call: object) -> tuple[str, str, bytes]:
            if document_id == 1:
                raise NotFound("gone")
            return "x", "a/b", b"x" * (MAX_BYTES + 1)

    source = await bench.api({**OPTIONS, "url": bench.url("/up")}, documents=Reader())
    assert (await bench.call(source, {"file": 1}, chat=3)).text == "API request failed: gone"
    output = await bench.call(source, {"file": 2}, chat=3)
    assert "larger than" in output.text
    assert bench.upstream.requests == []


def test_one_call_carries_a_hundred_mebibytes() -> None:
    """Two documents of the greatest size: what the reference says."""
    assert files.MAX_TOTAL == 100 * 1024 * 1024 == 2 * MAX_BYTES


async def test_one_call_cannot_ask_for_more_than_memory_holds(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same document a hundred times: reading ends soon behind the cap, and nothing is sent."""
    monkeypatch.setattr(files, "MAX_TOTAL", 2500)
    fetched: list[int] = []

    class Reader:
        async def fetch(self, document_id: int, call: object) -> tuple[str, str, bytes]:
            fetched.append(document_id)
            return "a.bin", "application/x-test", bytes(1000)

    source = await bench.api({**OPTIONS, "url": bench.url("/up")}, documents=Reader())
    output = await bench.call(source, {"file": 1, "extra": [1] * 99}, chat=3)
    assert output.error is not None
    assert output.error.code == "invalid_arguments"
    assert "larger than 2500 bytes in all" in output.text
    assert (len(fetched), bench.upstream.requests) == (3, [])


async def test_one_call_looks_up_a_hundred_documents_at_most(bench: Bench) -> None:
    """A list as long as a request may be would keep everybody waiting: none of it is looked up."""

    class Reader:
        async def fetch(self, document_id: int, call: object) -> tuple[str, str, bytes]:
            raise AssertionError(document_id)

    source = await bench.api({**OPTIONS, "url": bench.url("/up")}, documents=Reader())
    output = await bench.call(source, {"file": 1, "extra": [1] * 100}, chat=3)
    assert output.error is not None
    assert (output.error.code, bench.upstream.requests) == ("invalid_arguments", [])
    assert f"more than {files.MAX_FILES} documents" in output.text
