"""A bucket for documents: its address, its failures, and what it costs who does not use it."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.support.s3 import s3_server
from toolcrib.documents.document import BlobStore
from toolcrib.documents.folder import FolderBlobStore
from toolcrib.errors import InvalidSettings, SetupError
from toolcrib.storage import open_blobs
from toolcrib.storage.s3_address import S3Address
from toolcrib.testing.replies import answer, close_early, drop
from toolcrib.testing.upstream import RecordingUpstream, Reply

KEY = "0" * 32


async def chunks(*pieces: bytes) -> AsyncIterator[bytes]:
    for piece in pieces:
        yield piece


def test_an_address_is_read() -> None:
    """Bucket, prefix, endpoint, region, credentials; what is shown has no credential."""
    address = S3Address.of(
        "s3://me:a%2Fb@docs.example/team/one/?endpoint=https://s3.internal:9000/&region=eu-west-1"
    )
    assert address == S3Address(
        bucket="docs.example",
        prefix="team/one",
        endpoint="https://s3.internal:9000",
        region="eu-west-1",
        key_id="me",
        secret="a/b",
    )
    assert str(address) == "s3://docs.example/team/one at s3.internal:9000"
    assert "a/b" not in repr(address)
    assert str(S3Address.of("s3://docs")) == "s3://docs at AWS"


@pytest.mark.parametrize(
    "text",
    [
        "s3://",
        "s3://A_bad_name",
        "https://bucket",
        "bucket",
        "s3://docs?endpoint=ftp://x",
        "s3://docs?endpoint=https://u:hidden@x",
        "s3://docs?zone=1",
        "s3://hidden@docs",
        "s3://[",
        "s3://docs#x",
    ],
)
def test_what_is_no_address_names_the_variable(text: str, tmp_path: Path) -> None:
    """The operator learns which variable is wrong, and no credential is shown."""
    with pytest.raises(InvalidSettings) as caught:
        open_blobs(text, folder=tmp_path)
    assert caught.value.where == "TOOLCRIB_DOCUMENTS_URL"
    assert "hidden" not in caught.value.message + (caught.value.hint or "")


def test_the_folder_is_the_default(tmp_path: Path) -> None:
    """Nothing said, or said by its name."""
    for text in ("", "folder"):
        assert isinstance(open_blobs(text, folder=tmp_path), FolderBlobStore)


def test_without_the_extra_it_says_what_to_install(tmp_path: Path) -> None:
    """The message names the extra, as soon as the store is opened."""
    script = (
        "import sys; sys.modules['aiobotocore'] = None\n"
        "from pathlib import Path\nfrom toolcrib.storage import open_blobs\n"
        "try: open_blobs('s3://docs', folder=Path('x'))\n"
        "except Exception as error: print(type(error).__name__, error.hint)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout == "MissingExtra Run pip install 'toolcrib[s3]'.\n"


def test_nobody_else_pays_for_the_library() -> None:
    """Neither opening the platform's modules nor opening a bucket imports it."""
    script = (
        "import sys\nfrom pathlib import Path\nimport toolcrib.platform\n"
        "from toolcrib.storage import open_blobs\n"
        "open_blobs('s3://docs', folder=Path('x'))\n"
        "print([name for name in ('aiobotocore', 'botocore') if name in sys.modules])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"


@asynccontextmanager
async def opened(address: str, endpoint: str) -> AsyncIterator[BlobStore]:
    blobs = open_blobs(f"{address}?endpoint={endpoint}", folder=Path("never"))
    try:
        yield blobs
    finally:
        await blobs.close()


async def test_a_bucket_that_is_not_there() -> None:
    """`ping` and `write` are the operator's to mend, and say which bucket it is."""
    with s3_server() as address:
        async with opened("s3://me:hidden@nowhere", address) as blobs:
            with pytest.raises(SetupError, match="s3://nowhere"):
                await blobs.ping()
            with pytest.raises(SetupError, match="NoSuchBucket") as caught:
                await blobs.write(chunks(b"x"))
    assert "hidden" not in str(caught.value)


@pytest.mark.parametrize("reply", [drop(), close_early(b"half", promised=100)])
async def test_a_store_that_breaks_off(reply: Reply) -> None:
    """An answer that ends early is an error that names the bucket, never half a document."""
    async with (
        RecordingUpstream(otherwise=reply) as upstream,
        opened("s3://me:hidden@docs", upstream.url("")) as blobs,
    ):
        with pytest.raises(SetupError, match="s3://docs"):
            await blobs.read(KEY)


async def test_uploads_are_signed_and_go_to_the_endpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    """One PUT with its length and a signature; the secret is not in it, no proxy is used, and the
    store is not asked first whether it wants it."""
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "from-the-environment")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "very-hidden")
    async with (
        RecordingUpstream(otherwise=answer(body=b"")) as upstream,
        opened("s3://docs/p", upstream.url("")) as blobs,
    ):
        key, _ = await blobs.write(chunks(b"a" * 3, b"b"))
    (request,) = upstream.requests
    assert (request.method, request.target, request.body) == ("PUT", f"/docs/p/{key}", b"aaab")
    assert "Credential=from-the-environment/" in (request.header("Authorization") or "")
    assert (request.header("Content-Length"), request.header("Expect")) == ("4", None)
    assert b"very-hidden" not in request.raw


async def test_many_at_once_share_one_client() -> None:
    """The first use opens it once, whoever comes first; connections are kept."""
    async with (
        RecordingUpstream(otherwise=answer(body=b"")) as upstream,
        opened("s3://me:hidden@docs", upstream.url("")) as blobs,
    ):
        await asyncio.gather(*(blobs.write(chunks(b"x")) for _ in range(8)))
        await blobs.write(chunks(b"x"))
    assert len(upstream.requests) == 9
    assert upstream.connections <= 8
