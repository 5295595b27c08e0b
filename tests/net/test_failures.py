"""This module checks the table of failures: complete, in words, and without anything secret."""

from __future__ import annotations

import errno
import ssl
import traceback
from types import SimpleNamespace
from typing import Any

import aiohttp
import pytest
from aiohttp.client_reqrep import ConnectionKey

from toolcrib.errors import SourceError, SourceProtocolError, SourceTimeout, SourceUnreachable
from toolcrib.net import failures
from toolcrib.net.client import GuardedClient
from toolcrib.net.connections import ResendRefused, SpokeFirst
from toolcrib.net.failures import translate
from toolcrib.testing.replies import close_early, drop, raw
from toolcrib.testing.upstream import RecordingUpstream, Reply

SECRET = "hunter2-hunter2"
KEY = ConnectionKey("a.test", 443, True, True, None, None, None)
INFO: Any = SimpleNamespace(real_url=f"https://a.test/?key={SECRET}", headers={"X": SECRET})


@pytest.mark.parametrize(
    ("error", "ours", "words"),
    [
        (
            aiohttp.ClientConnectorError(KEY, OSError(errno.ECONNREFUSED, SECRET)),
            SourceUnreachable,
            "could not be reached: Connection refused",
        ),
        (
            aiohttp.ClientConnectorSSLError(KEY, ssl.SSLError(1, "x")),
            SourceUnreachable,
            "could not be reached: TLS handshake failed",
        ),
        (
            aiohttp.ClientConnectorCertificateError(KEY, ssl.CertificateError(SECRET)),
            SourceUnreachable,
            "has a certificate that was refused: it does not verify",
        ),
        (
            aiohttp.ClientProxyConnectionError(KEY, OSError(errno.ECONNREFUSED, SECRET)),
            SourceUnreachable,
            "could not be reached: the egress proxy does not answer",
        ),
        (
            aiohttp.ClientHttpProxyError(INFO, (), status=403, message=SECRET),
            SourceUnreachable,
            "was refused by the egress proxy (HTTP 403)",
        ),
        (
            aiohttp.ConnectionTimeoutError(SECRET),
            SourceTimeout,
            "did not accept a connection in time",
        ),
        (TimeoutError(SECRET), SourceTimeout, "did not answer in time"),
        (aiohttp.SocketTimeoutError(SECRET), SourceTimeout, "did not answer in time"),
        (ResendRefused(), SourceProtocolError, "closed the connection without an answer"),
        (SpokeFirst(), SourceProtocolError, "did not wait for the request"),
        (
            aiohttp.ServerDisconnectedError(SECRET),
            SourceProtocolError,
            "closed the connection without an answer",
        ),
        (
            aiohttp.ClientPayloadError(SECRET),
            SourceProtocolError,
            "sent an answer that ended early, or whose length or encoding is wrong",
        ),
        (
            aiohttp.ClientResponseError(INFO, (), status=400, message=SECRET),
            SourceProtocolError,
            "sent an answer that is not valid HTTP",
        ),
        (
            aiohttp.ClientOSError(errno.ECONNRESET, SECRET),
            SourceUnreachable,
            "broke the connection: Connection reset by peer",
        ),
        (OSError(SECRET), SourceUnreachable, "broke the connection: the connection failed"),
        (aiohttp.ClientConnectionError(SECRET), SourceUnreachable, "lost the connection"),
        (aiohttp.ClientError(SECRET), SourceProtocolError, "broke the HTTP protocol"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else None,
)
def test_each_failure_has_its_error_and_words(
    error: BaseException, ours: type[SourceError], words: str
) -> None:
    """What the client raises becomes one of ours, and its own text stays behind."""
    failure = translate(error, place="a.test:443", sent=True)
    assert (type(failure), failure.message, failure.sent) == (ours, f"a.test:443 {words}.", True)


def test_every_exception_of_the_http_client_is_in_the_table() -> None:
    """A new exception of the library still finds its row: nothing foreign gets out."""
    known = [
        value
        for value in vars(aiohttp.client_exceptions).values()
        if isinstance(value, type) and issubclass(value, BaseException)
    ]
    assert len(known) > 20
    foreign = [kind.__name__ for kind in known if not issubclass(kind, failures.FOREIGN)]
    assert foreign == ["WSMessageTypeError"]  # of web sockets, which this client does not speak


def test_what_is_no_failure_of_a_connection_is_a_mistake() -> None:
    """A bug of ours is not dressed up as the upstream's."""
    with pytest.raises(TypeError, match="KeyError is no failure"):
        translate(KeyError("x"), place="a.test:443", sent=None)


@pytest.mark.parametrize(
    "reply",
    [
        drop(),
        close_early(SECRET.encode(), promised=100),
        raw(f"HTTP/1.1 nonsense {SECRET}\r\n\r\n".encode()),
        raw(f"HTTP/1.1 200 OK\r\nContent-Length: {SECRET}\r\n\r\n".encode()),
    ],
)
async def test_nothing_secret_is_in_an_error(
    client: GuardedClient, upstream: RecordingUpstream, reply: Reply
) -> None:
    """Message, repr, causes and the whole traceback: neither the query nor a header nor an echo."""
    upstream.reply("/x", reply)
    with pytest.raises(SourceError) as raised:
        await client.request(
            "POST",
            upstream.url(f"/x?key={SECRET}"),
            headers={"Authorization": f"Bearer {SECRET}"},
            body=SECRET.encode(),
        )
    seen: BaseException | None = raised.value
    while seen is not None:
        assert SECRET not in f"{seen} {seen!r} {vars(seen)}"
        seen = seen.__cause__ or seen.__context__
    assert SECRET not in "".join(traceback.format_exception_only(raised.value))
