"""This module keeps documents' bytes in a bucket of AWS S3, or of any store that speaks like it.

The bucket is the operator's word, so the egress guard is not asked. The library behind it is
imported at the first use: half a second that nobody else pays for. It comes without types.
"""

from __future__ import annotations

import asyncio
import secrets
import tempfile
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from importlib import import_module
from typing import IO, Any

from toolcrib.documents.document import MAX_BYTES, too_large
from toolcrib.documents.room import written_to
from toolcrib.errors import NotFound, SetupError, ToolcribError
from toolcrib.storage.s3_address import SETTING, S3Address

_IN_MEMORY = 1024 * 1024
"""Larger uploads wait on disk: the store wants to know their size before the first byte."""
_PIECE = 256 * 1024
_GONE = frozenset({"NoSuchKey", "404"})
_OTHERS_REGION = "us-east-1"
"""What stores that have no regions expect to be called."""


class S3BlobStore:
    """Objects named by random keys below the address's prefix."""

    def __init__(self, address: S3Address) -> None:
        self._address = address
        self._opening = asyncio.Lock()
        self._stack = AsyncExitStack()
        self._client: Any = None

    async def write(
        self, chunks: AsyncIterator[bytes], *, limit: int = MAX_BYTES
    ) -> tuple[str, int]:
        key = secrets.token_hex(16)
        size = 0
        with tempfile.SpooledTemporaryFile(_IN_MEMORY) as file:
            async for chunk in chunks:
                size += len(chunk)
                if size > limit:
                    raise too_large(limit)
                with written_to(tempfile.gettempdir()):
                    await asyncio.to_thread(file.write, chunk)
            await asyncio.to_thread(file.seek, 0)
            await self._put(key, file, size)
        return key, size

    async def read(self, key: str, *, limit: int = MAX_BYTES) -> bytes:
        pieces: list[bytes] = []
        size = 0
        async with self._asking() as client:
            answer = await client.get_object(Bucket=self._address.bucket, Key=self._name(key))
            async with answer["Body"] as body:
                async for piece in body.iter_chunks(_PIECE):
                    size += len(piece)
                    if size > limit:
                        raise too_large(limit)
                    pieces.append(piece)
        return b"".join(pieces)

    async def delete(self, key: str) -> None:
        async with self._asking() as client:
            await client.delete_object(Bucket=self._address.bucket, Key=self._name(key))

    async def ping(self) -> None:
        """Raises SetupError unless the bucket is there and may be used."""
        async with self._asking(gone=SetupError(f"There is no bucket at {self._address}.")) as s3:
            await s3.head_bucket(Bucket=self._address.bucket)

    async def close(self) -> None:
        async with self._opening:
            self._client = None
            await self._stack.aclose()

    async def _put(self, key: str, file: IO[bytes], size: int) -> None:
        async with self._asking() as client:
            await client.put_object(
                Bucket=self._address.bucket,
                Key=self._name(key),
                Body=file,
                ContentLength=size,
                ContentType="application/octet-stream",
            )

    @asynccontextmanager
    async def _asking(self, gone: ToolcribError | None = None) -> AsyncGenerator[Any]:
        """The client; what goes wrong with it is NotFound (or `gone`), or the operator's."""
        client = await self._opened()
        errors = import_module("botocore.exceptions")
        # Its HTTP client's own errors come through while a body is read.
        broken = (errors.BotoCoreError, import_module("aiohttp").ClientError, OSError)
        try:
            yield client
        except errors.ClientError as error:
            told: dict[str, Any] = error.response.get("Error", {})
            if told.get("Code") in _GONE:
                raise gone or NotFound("The document's bytes are gone from the bucket.") from None
            raise self._failed(f"{told.get('Code')}: {told.get('Message')}") from None
        except broken as error:
            raise self._failed(str(error) or type(error).__name__) from None

    async def _opened(self) -> Any:
        async with self._opening:
            if self._client is None:
                session = await asyncio.to_thread(_session)
                made = _client(session, self._address)
                self._client = await self._stack.enter_async_context(made)
                _send_without_asking(self._client)
            return self._client

    def _name(self, key: str) -> str:
        if len(key) != 32 or any(c not in "0123456789abcdef" for c in key):
            raise NotFound("That is not the key of a document.")
        return f"{self._address.prefix}/{key}" if self._address.prefix else key

    def _failed(self, cause: str) -> SetupError:
        return SetupError(
            f"The bucket of documents, {self._address}, failed: {cause.strip().rstrip('.')}.",
            hint=f"See that {SETTING} and the credentials in AWS_… variables are right.",
        )


def _session() -> Any:
    """Import the library and read its description of S3: too slow for the event loop."""
    session = import_module("aiobotocore.session").get_session()
    session.get_component("data_loader").load_service_model("s3", "service-2")
    return session


def _client(session: Any, address: S3Address) -> Any:
    """Credentials that the address does not hold are looked for as AWS's own tools do."""
    config = import_module("aiobotocore.config").AioConfig
    region = address.region or session.get_config_variable("region")
    return session.create_client(
        "s3",
        endpoint_url=address.endpoint,
        region_name=region or (_OTHERS_REGION if address.endpoint else None),
        aws_access_key_id=address.key_id,
        aws_secret_access_key=address.secret,
        config=config(
            connect_timeout=5,
            read_timeout=30,
            retries={"max_attempts": 3, "mode": "standard"},
            # `{}`: the environment's proxies are not used, here as everywhere.
            proxies={},
            s3={"addressing_style": "path" if address.endpoint else "auto"},
            request_checksum_calculation="when_required",
            response_checksum_validation="when_required",
        ),
    )


def _send_without_asking(client: Any) -> None:
    """Leave out `Expect: 100-continue`: with a store that does not know it the client waits for
    ever, and a document is small enough to be sent in vain."""
    asks = import_module("botocore.handlers").add_expect_header
    client.meta.events.unregister("before-call.s3", asks)
