"""This module starts a server that speaks S3 on loopback: moto's, in a process of its own."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager

import httpx

_ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+")
_START = "from moto.server import main; main(['-H', '127.0.0.1', '-p', '0'])"


@contextmanager
def s3_server() -> Generator[str]:
    """Its address. Any credentials are accepted."""
    process = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", _START],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield _address(process)
    finally:
        process.terminate()
        process.communicate(timeout=30)


def _address(process: subprocess.Popen[str]) -> str:
    assert process.stderr is not None
    told: list[str] = []
    for line in process.stderr:
        told.append(line)
        if found := _ADDRESS.search(line):
            return found[0]
    raise AssertionError("".join(told))


def make_bucket(address: str, name: str) -> None:
    httpx.put(f"{address}/{name}", headers=_SIGNED, trust_env=False).raise_for_status()


def names_in(address: str, bucket: str) -> list[str]:
    """The keys of the objects in a bucket, as the server itself lists them."""
    answer = httpx.get(f"{address}/{bucket}", headers=_SIGNED, trust_env=False)
    answer.raise_for_status()
    return re.findall(r"<Key>([^<]+)</Key>", answer.text)


def put_object(address: str, bucket: str, key: str, data: bytes) -> None:
    """Store an object behind Toolcrib's back."""
    url = f"{address}/{bucket}/{key}"
    httpx.put(url, content=data, headers=_SIGNED, trust_env=False).raise_for_status()


_SIGNED = {"Authorization": "AWS4-HMAC-SHA256 Credential=me/20300101/us-east-1/s3/aws4_request"}
"""Moto tells services apart by the scope of the credential."""
