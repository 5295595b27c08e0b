"""Documents in a bucket: over REST, the bytes lie in the bucket and nowhere else."""

from __future__ import annotations

import asyncio

from pydantic import SecretStr

from tests.support.crib import open_crib
from tests.support.s3 import make_bucket, names_in, s3_server
from toolcrib.settings import Settings


async def test_a_document_lives_in_the_bucket(settings: Settings) -> None:
    """Uploaded, read byte for byte, and gone with its chat; no folder is made."""
    data = bytes(range(256)) * 8192
    with s3_server() as address:
        make_bucket(address, "docs")
        url = f"s3://me:hidden@docs/crib?endpoint={address}"
        in_bucket = settings.model_copy(update={"documents_url": SecretStr(url)})
        async with open_crib(in_bucket) as crib:
            root = await crib.somebody(1)
            agent = (await root.api.post("/api/v1/agents", json={"name": "a"})).json()["id"]
            chat = (await root.api.post("/api/v1/chats", json={"agent_id": agent})).json()["id"]
            documents = f"/api/v1/chats/{chat}/documents"

            made = await root.api.post(documents, files={"file": ("a.bin", data)})
            assert (made.status_code, made.json()["size"]) == (201, len(data))
            stored = await asyncio.to_thread(names_in, address, "docs")
            assert [name.partition("/")[0] for name in stored] == ["crib"]
            read = await root.api.get(f"{documents}/{made.json()['id']}/content")
            assert read.content == data
            assert (await root.api.delete(f"/api/v1/chats/{chat}")).status_code == 204
            assert await asyncio.to_thread(names_in, address, "docs") == []
    assert not (settings.data_dir / "documents").exists()
