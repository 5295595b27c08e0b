"""This module opens the place where documents' bytes are kept: a folder, or a bucket."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from toolcrib.documents.document import BlobStore
from toolcrib.documents.folder import FolderBlobStore
from toolcrib.errors import MissingExtra
from toolcrib.storage.s3_address import S3Address

FOLDER = "folder"


def open_blobs(address: str, *, folder: Path) -> BlobStore:
    """`address` is empty or `folder`, or `s3://…`. Nothing is connected before it is needed.

    Raises InvalidSettings for what is no such address, MissingExtra without the library.
    """
    bucket = bucket_of(address)
    if bucket is None:
        return FolderBlobStore(folder)
    from toolcrib.storage.blobs_s3 import S3BlobStore  # noqa: PLC0415 - an extra

    return S3BlobStore(bucket)


def bucket_of(address: str) -> S3Address | None:
    """The bucket, None for the folder. Raises as `open_blobs` does."""
    if address in {"", FOLDER}:
        return None
    bucket = S3Address.of(address)
    if find_spec("aiobotocore") is None:
        raise MissingExtra(
            "Documents in a bucket need a library that is not installed: aiobotocore.",
            hint="Run pip install 'toolcrib[s3]'.",
        )
    return bucket
