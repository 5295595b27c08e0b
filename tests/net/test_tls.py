"""This module checks that TLS verifies the host's name although the address is pinned."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.net.certificates import DAY, NOW, Authority
from toolcrib.errors import SourceTimeout, SourceUnreachable
from toolcrib.net.client import GuardedClient
from toolcrib.net.guard import EgressPolicy
from toolcrib.testing.resolvers import ScriptedResolver
from toolcrib.testing.upstream import RecordingUpstream

HOSTS = {name: [["127.0.0.1"]] for name in ("good.test", "wrong.test", "old.test")}


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    """An authority of this test's own."""
    return Authority(tmp_path)


async def get(upstream: RecordingUpstream, host: str, authority: Authority | None) -> int:
    policy = EgressPolicy([f"{host}:{upstream.port}"])
    tls = authority.client() if authority else None
    async with GuardedClient(policy, resolver=ScriptedResolver(HOSTS), tls=tls) as client:
        return (await client.request("GET", f"https://{host}:{upstream.port}/x")).status


async def test_the_right_name_is_spoken_to(authority: Authority) -> None:
    """The connection goes to the pinned address; name and Host header stay the URL's."""
    async with RecordingUpstream(tls=authority.server("good.test")) as upstream:
        assert await get(upstream, "good.test", authority) == 200
        assert upstream.requests[0].header("Host") == f"good.test:{upstream.port}"


async def test_another_name_is_refused_before_the_request(authority: Authority) -> None:
    """A certificate for somebody else: nothing is sent, and the words say why."""
    async with RecordingUpstream(tls=authority.server("good.test")) as upstream:
        with pytest.raises(SourceUnreachable) as raised:
            await get(upstream, "wrong.test", authority)
        assert raised.value.message.startswith(
            f"wrong.test:{upstream.port} has a certificate that was refused: Hostname mismatch"
        )
        assert (raised.value.sent, upstream.requests) == (False, [])


async def test_an_unknown_authority_is_refused(authority: Authority) -> None:
    """The operator's list opens addresses; it never makes a certificate good."""
    async with RecordingUpstream(tls=authority.server("good.test")) as upstream:
        with pytest.raises(SourceUnreachable, match="certificate that was refused"):
            await get(upstream, "good.test", None)
        assert upstream.requests == []


async def test_an_old_certificate_is_refused(authority: Authority) -> None:
    """Expired is refused."""
    tls = authority.server("old.test", until=NOW - DAY)
    async with RecordingUpstream(tls=tls) as upstream:
        with pytest.raises(SourceUnreachable, match="certificate has expired"):
            await get(upstream, "old.test", authority)
        assert upstream.requests == []


async def test_ssl_cert_file_is_honoured(
    authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An operator's own authority is trusted by the variable that OpenSSL reads."""
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.trust))
    async with RecordingUpstream(tls=authority.server("good.test")) as upstream:
        assert await get(upstream, "good.test", None) == 200


async def test_what_speaks_no_tls_is_told_in_words() -> None:
    """https to a plain http port fails in the handshake, unsent."""
    async with RecordingUpstream() as upstream:
        policy = EgressPolicy([upstream.place])
        async with GuardedClient(policy, connect_timeout=0.5) as client:
            with pytest.raises(SourceTimeout, match="did not accept a connection") as raised:
                await client.request("GET", f"https://{upstream.place}/", timeout=60)
        assert raised.value.sent is False
        assert upstream.requests == []
