"""Documents over HTTP: streamed in, bounded, whole or not at all."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from tests.support.crib import problem_of
from tests.support.tenants import Tenants
from toolcrib.documents.document import MAX_BYTES

FORM = {"Content-Type": "multipart/form-data; boundary=B"}
HEAD = b'--B\r\nContent-Disposition: form-data; name="file"; filename="f.txt"\r\n'
WHOLE = HEAD + b"Content-Type: text/plain\r\n\r\nhello\r\n--B--\r\n"


@pytest.fixture
async def documents(tenants: Tenants) -> tuple[httpx.AsyncClient, str, Path]:
    """User A's client, the path of a chat's documents, and where their bytes are."""
    chat = await tenants.chat(tenants.user_a, await tenants.agent(tenants.user_a, tenants.a))
    folder = tenants.crib.platform.settings.data_dir / "documents"
    return tenants.user_a.api, f"/api/v1/chats/{chat.id}/documents", folder


def files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


async def test_a_document_goes_round(documents: tuple[httpx.AsyncClient, str, Path]) -> None:
    """In by a form, listed, out as an attachment, deleted."""
    api, path, folder = documents
    data = bytes(range(256)) * 400

    made = await api.post(path, files={"file": ("../bild é.png", data, "image/png")})
    assert made.status_code == 201
    row = made.json()
    assert (row["filename"], row["mime_type"], row["size"]) == (
        "bild é.png",
        "image/png",
        len(data),
    )

    assert (await api.get(path)).json() == {"items": [row], "next_cursor": None}
    one = f"{path}/{row['id']}"
    assert (await api.get(one)).json() == row
    content = await api.get(f"{one}/content")
    assert content.content == data
    assert content.headers["content-type"] == "image/png"
    disposition = "attachment; filename*=UTF-8''bild%20%C3%A9.png"
    assert content.headers["content-disposition"] == disposition
    assert content.headers["x-content-type-options"] == "nosniff"
    assert (await api.delete(one)).status_code == 204
    assert problem_of(await api.get(one))[0] == 404
    assert files(folder) == []


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
async def test_a_form_may_arrive_in_any_pieces(
    documents: tuple[httpx.AsyncClient, str, Path], size: int
) -> None:
    """Boundaries and headers cut anywhere."""
    api, path, _ = documents
    field = b'--B\r\nContent-Disposition: form-data; name="note"\r\n\r\nignored\r\n'
    body = field + WHOLE

    async def pieces() -> AsyncIterator[bytes]:
        for start in range(0, len(body), size):
            yield body[start : start + size]

    made = await api.post(path, content=pieces(), headers=FORM)

    assert (made.status_code, made.json()["size"]) == (201, 5)
    content = await api.get(f"{path}/{made.json()['id']}/content")
    assert content.content == b"hello"


@pytest.mark.parametrize(
    ("body", "headers", "expected"),
    [
        (WHOLE, {"Content-Type": "application/json"}, 415),
        (WHOLE, {"Content-Type": "multipart/form-data"}, 415),
        (b"", FORM, 400),
        (b"nonsense", FORM, 400),
        (WHOLE[:-9], FORM, 400),
        (HEAD, FORM, 400),
        (b'--B\r\nContent-Disposition: form-data; name="note"\r\n\r\nx\r\n--B--\r\n', FORM, 422),
        (WHOLE.replace(b"--B--\r\n", WHOLE), FORM, 422),
        (b"--B\r\nX: " + b"y" * 70_000 + b"\r\n\r\n--B--\r\n", FORM, 400),
        (
            b'--B\r\nContent-Disposition: form-data; name="note"\r\n\r\n'
            + b"y" * 70_000
            + b"\r\n"
            + WHOLE,
            FORM,
            413,
        ),
    ],
)
async def test_a_bad_form_leaves_nothing(
    documents: tuple[httpx.AsyncClient, str, Path],
    body: bytes,
    headers: dict[str, str],
    expected: int,
) -> None:
    """No bytes and no row."""
    api, path, folder = documents

    answer = await api.post(path, content=body, headers=headers)

    assert problem_of(answer)[0] == expected
    assert files(folder) == []
    assert (await api.get(path)).json()["items"] == []


async def test_a_document_has_a_largest_size(
    documents: tuple[httpx.AsyncClient, str, Path],
) -> None:
    """Refused by its declared length at once, and without one when the limit is passed."""
    api, path, folder = documents
    megabyte = b"x" * 1024 * 1024

    async def endless() -> AsyncIterator[bytes]:
        yield HEAD + b"\r\n"
        for _ in range(MAX_BYTES // len(megabyte) + 1):
            yield megabyte

    declared = {**FORM, "Content-Length": str(MAX_BYTES * 2)}
    assert problem_of(await api.post(path, content=WHOLE, headers=declared))[0] == 413
    assert problem_of(await api.post(path, content=endless(), headers=FORM))[::2] == (422, "file")
    assert files(folder) == []
