"""This module checks the operator's proxy: it connects, and the guard still judges."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.net.certificates import Authority
from toolcrib.errors import EgressBlocked, InvalidSettings, SourceUnreachable
from toolcrib.net.client import GuardedClient
from toolcrib.net.guard import EgressPolicy
from toolcrib.net.proxy import Proxy
from toolcrib.testing.resolvers import ScriptedResolver
from toolcrib.testing.upstream import RecordingUpstream


class TunnelProxy:
    """A small real proxy: it records each head, and connects every name to one port of loopback."""

    def __init__(self, target: int) -> None:
        self.heads: list[bytes] = []
        self.refuse = b""
        self.port = 0
        self._target = target

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            self.heads.append(head)
            if self.refuse:
                writer.write(self.refuse)
                await writer.drain()
                return
            inward, outward = await asyncio.open_connection("127.0.0.1", self._target)
            if head.startswith(b"CONNECT"):
                writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            else:
                outward.write(head)
            await asyncio.gather(_pump(reader, outward), _pump(inward, writer))
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(65_536):
        writer.write(data)
        await writer.drain()
    writer.close()


@pytest.fixture
async def secure(tmp_path: Path) -> AsyncIterator[tuple[RecordingUpstream, Authority]]:
    """An https upstream with a certificate for good.test, and who signed it."""
    authority = Authority(tmp_path)
    async with RecordingUpstream(tls=authority.server("good.test")) as upstream:
        yield upstream, authority


@pytest.fixture
async def proxy(
    secure: tuple[RecordingUpstream, Authority],
) -> AsyncIterator[TunnelProxy]:
    """A proxy in front of it."""
    tunnel = TunnelProxy(secure[0].port)
    server = await asyncio.start_server(tunnel.serve, "127.0.0.1", 0)
    tunnel.port = server.sockets[0].getsockname()[1]
    yield tunnel
    server.close()


HOSTS = {
    "good.test": [["93.184.216.34"]],
    "inside.test": [["10.0.0.5"]],
    "proxy.test": [["127.0.0.1"]],
}


def client(proxy: TunnelProxy, authority: Authority, host: str = "127.0.0.1") -> GuardedClient:
    return GuardedClient(
        EgressPolicy(),
        resolver=ScriptedResolver(HOSTS),
        proxy=f"http://ann:s3cret-pw@{host}:{proxy.port}",
        tls=authority.client(),
    )


@pytest.mark.parametrize("host", ["127.0.0.1", "proxy.test"])
async def test_https_goes_through_a_tunnel(
    secure: tuple[RecordingUpstream, Authority], proxy: TunnelProxy, host: str
) -> None:
    """The proxy is given the name and its own credentials; TLS is with the upstream."""
    upstream, authority = secure
    async with client(proxy, authority, host) as guarded:
        response = await guarded.request("GET", "https://good.test/x", headers={"X-Key": "k"})
    token = base64.b64encode(b"ann:s3cret-pw")
    assert (response.status, len(upstream.requests)) == (200, 1)
    assert proxy.heads[0].startswith(b"CONNECT good.test:443 HTTP/1.1\r\n")
    assert b"Proxy-Authorization: Basic " + token in proxy.heads[0]
    assert b"X-Key" not in proxy.heads[0]
    assert upstream.requests[0].header("Proxy-Authorization") is None


async def test_addresses_are_judged_before_the_proxy_hears_of_them(
    secure: tuple[RecordingUpstream, Authority], proxy: TunnelProxy
) -> None:
    """A private host, a literal and an unknown name never reach the proxy."""
    async with client(proxy, secure[1]) as guarded:
        for url in ("https://inside.test/", "https://127.0.0.1/", "https://nothing.test/"):
            with pytest.raises(EgressBlocked):
                await guarded.request("GET", url)
    assert proxy.heads == []


async def test_allowed_http_is_asked_for_in_full() -> None:
    """Plain http goes to the proxy as an absolute URL."""
    async with RecordingUpstream() as upstream:
        tunnel = TunnelProxy(upstream.port)
        server = await asyncio.start_server(tunnel.serve, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        guarded = GuardedClient(
            EgressPolicy(["inside.test"]),
            resolver=ScriptedResolver(HOSTS),
            proxy=f"http://127.0.0.1:{port}",
        )
        async with server, guarded:
            assert (await guarded.request("GET", "http://inside.test/x?y=1")).status == 200
        assert upstream.requests[0].target == "http://inside.test/x?y=1"


async def test_a_proxy_that_refuses_is_named_without_its_credentials(
    secure: tuple[RecordingUpstream, Authority], proxy: TunnelProxy
) -> None:
    """The words say who refused; nothing was sent to the upstream."""
    proxy.refuse = b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n"
    async with client(proxy, secure[1]) as guarded:
        with pytest.raises(SourceUnreachable) as raised:
            await guarded.request("POST", "https://good.test/x?key=hunter2", body=b"x")
    assert raised.value.message == "good.test:443 was refused by the egress proxy (HTTP 407)."
    assert raised.value.sent is False


async def test_a_proxy_that_is_gone_is_told_in_words(
    secure: tuple[RecordingUpstream, Authority], proxy: TunnelProxy
) -> None:
    """The upstream is not blamed."""
    proxy.port = 1
    async with client(proxy, secure[1]) as guarded:
        with pytest.raises(SourceUnreachable) as raised:
            await guarded.request("GET", "https://good.test/")
    words = "good.test:443 could not be reached: the egress proxy does not answer."
    assert (raised.value.message, raised.value.sent) == (words, False)


async def test_a_proxy_host_that_does_not_resolve_is_told_in_words(
    secure: tuple[RecordingUpstream, Authority], proxy: TunnelProxy
) -> None:
    """The setting is at fault."""
    async with client(proxy, secure[1], "gone.test") as guarded:
        with pytest.raises(EgressBlocked, match="The egress proxy's host does not resolve"):
            await guarded.request("GET", "https://good.test/")


@pytest.mark.parametrize(
    "text",
    ["proxy.test:3128", "socks5://proxy.test:1080", "https://proxy.test", "http://", "http://a/b"],
)
def test_other_forms_are_no_proxy(text: str) -> None:
    """The setting is refused at start, without repeating what may hold a password."""
    with pytest.raises(InvalidSettings, match="TOOLCRIB_EGRESS_PROXY cannot be used"):
        Proxy(text)


def test_the_setting_is_never_repeated() -> None:
    """Its credentials stay out of the message."""
    with pytest.raises(InvalidSettings) as raised:
        Proxy("ftp://ann:s3cret-pw@proxy.test:21")
    assert "s3cret" not in str(raised.value)
