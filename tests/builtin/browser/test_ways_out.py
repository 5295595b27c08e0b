"""A browser has one way out, the guard's gate, whatever a page tries."""

from __future__ import annotations

import asyncio
import json
import socket
from urllib.parse import quote

import pytest

from tests.builtin.browser.conftest import Site
from tests.support.chatting import Talk
from toolcrib.plugin.host import current_host


async def test_a_private_address_is_refused_before_a_byte_is_sent(talk: Talk, other: Site) -> None:
    """Asked for by the agent: the answer says why, and who could allow it."""
    for url in (other.url(), other.url().replace("127.0.0.1", "localhost")):
        code, message = await talk.failed("browser_navigate_to", url=url)
        assert code == "blocked"
        assert "The operator can allow it" in message or "not allowed" in message
    assert other.seen == []


@pytest.mark.parametrize("url", ["file:///etc/passwd", "chrome://version", "data:text/html,x", "x"])
async def test_only_web_addresses_are_opened(talk: Talk, url: str) -> None:
    """Files and pages of the browser itself are none."""
    code, message = await talk.failed("browser_navigate_to", url=url)
    assert code == "blocked", message


async def test_a_redirect_to_a_private_address_is_refused(
    talk: Talk, site: Site, other: Site
) -> None:
    """The site is allowed; where it sends is judged anew."""
    code, message = await talk.failed(
        "browser_navigate_to", url=site.url(f"/away?to={quote(other.url(), safe='')}")
    )
    assert (code, "127.0.0.1" in message) == ("blocked", True)
    code, _ = await talk.failed(
        "browser_navigate_to", url=site.url(f"/away?to={quote('file:///etc/passwd', safe='')}")
    )
    assert code == "tool_error"
    assert other.seen == []


async def run(talk: Talk, site: Site, script: str) -> str:
    """What a page's script leaves in `out` once it calls `done`."""
    js = f"const done = text => document.getElementById('out').textContent = text; {script}"
    await talk.ok("browser_navigate_to", url=site.url(f"/script?js={quote(js, safe='')}"))
    while True:  # a script that comes to no end meets the test's own time limit
        said = await talk.ok("browser_extract_content", target="#out")
        if said["content"] != "waiting":
            return said["content"]


async def test_what_a_page_fetches_is_judged(talk: Talk, site: Site, other: Site) -> None:
    """fetch, images, frames, beacons and sockets: none reaches what is not allowed."""
    there = json.dumps(other.url("/hit"))
    wanted = f"""
        const tries = [
            fetch({there}, {{mode: 'no-cors'}}).then(r => 'opaque', e => 'failed'),
            new Promise(ok => {{ const i = new Image(); i.onerror = () => ok('failed');
                i.onload = () => ok('loaded'); i.src = {there}; }}),
            new Promise(ok => {{ const s = new WebSocket({there}.replace('http', 'ws'));
                s.onerror = () => ok('failed'); s.onopen = () => ok('open'); }}),
        ];
        navigator.sendBeacon({there}, 'x');
        const frame = document.createElement('iframe'); frame.src = {there};
        frame.onload = () => Promise.all(tries).then(all => done(all.join()));
        document.body.append(frame);"""
    # A refusal is an answer of the gate, which an opaque fetch cannot tell from another.
    assert await run(talk, site, wanted) in {"opaque,failed,failed", "failed,failed,failed"}
    assert other.seen == []


async def test_a_socket_to_an_allowed_place_works(talk: Talk, site: Site) -> None:
    """WebSockets go through the gate as well."""
    there = json.dumps(site.url("/socket").replace("http", "ws"))
    script = f"const s = new WebSocket({there}); s.onmessage = e => done(e.data);"
    assert await run(talk, site, script) == "hello by socket"


async def test_nothing_leaves_by_datagrams(talk: Talk, site: Site) -> None:
    """WebRTC finds no way and tells no address; WebTransport fails, in a worker as well."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as catcher:
        catcher.bind(("127.0.0.1", 0))
        catcher.settimeout(0.5)
        port = catcher.getsockname()[1]
        script = f"""
            const peers = async (Peer) => {{
                const found = [];
                const one = new Peer({{iceServers: [{{urls: 'stun:127.0.0.1:{port}'}}]}});
                const over = new Promise(ok => one.onicecandidate = e =>
                    e.candidate ? found.push(e.candidate.candidate) : ok());
                one.createDataChannel('x');
                await one.setLocalDescription(await one.createOffer());
                await over;
                return found.length;
            }};
            const frame = document.createElement('iframe'); document.body.append(frame);
            const carry = `new WebTransport('https://127.0.0.1:{port}/').ready
                .then(() => 'ready', () => 'refused')`;
            const work = new Blob([carry + '.then(postMessage)']);
            const worker = new Worker(URL.createObjectURL(work));
            worker.onmessage = async (e) => done([
                await peers(RTCPeerConnection), await peers(frame.contentWindow.RTCPeerConnection),
                await eval(carry), e.data].join());
        """
        said = await run(talk, site, script)
        with pytest.raises(TimeoutError):
            catcher.recv(2048)
    assert said == "0,0,refused,refused"


async def test_names_are_not_looked_up_by_the_browser(talk: Talk, site: Site) -> None:
    """The guard alone resolves: a name that it refuses was never asked for elsewhere."""
    code, message = await talk.failed("browser_navigate_to", url="https://nowhere.invalid/")
    assert (code, "does not resolve" in message) == ("blocked", True)
    script = "fetch('https://nowhere.invalid/').then(() => done('ok'), e => done(e.message))"
    assert await run(talk, site, script) == "Failed to fetch"


async def test_the_browser_asks_nobody_of_its_own_accord(talk: Talk, site: Site) -> None:
    """Not even about the forms that it sees."""
    opened = await talk.ok("browser_navigate_to", url=site.url("/"))
    assert 'button "Sign in"' in opened["outline"]
    host = current_host()
    assert host is not None
    assert host.rooms is not None
    gate = await host.rooms.gate()
    await asyncio.sleep(8)  # it takes some seconds to think of it
    assert [list(one.refused) for one in gate._passes.values()] == [[]]  # pyright: ignore[reportPrivateUsage]


async def test_the_pass_of_a_chat_never_reaches_a_site(talk: Talk, site: Site) -> None:
    """What was meant for the gate stays there."""
    await talk.ok("browser_navigate_to", url=site.url())
    names = {name.lower() for headers in site.headers for name in headers}
    assert "proxy-authorization" not in names
    assert "proxy-connection" not in names
