"""Pages that want no good: they are never the end of browsing, nor of the machine."""

from __future__ import annotations

import asyncio
from urllib.parse import quote

import pytest

from tests.builtin.browser.conftest import Site
from tests.support.chatting import Talk
from tests.support.services import missing
from tests.support.walls import isolation
from toolcrib.builtin.browser import chromium
from toolcrib.isolation.limits import MIB


async def opened(talk: Talk, site: Site, script: str) -> dict[str, object]:
    return await talk.call("browser_navigate_to", url=site.url(f"/script?js={quote(script)}"))


async def home_opens(talk: Talk, site: Site) -> None:
    said = await talk.ok("browser_navigate_to", url=site.url("/"))
    assert "Workshop" in said["outline"]


async def test_a_page_that_is_busy_for_ever(talk: Talk, site: Site) -> None:
    """It is closed, with a word about it; another address opens."""
    await opened(talk, site, "setTimeout(() => { for (;;); }, 1000)")
    answer = await talk.call("browser_extract_content")
    while answer["success"]:  # it is not busy yet
        answer = await talk.call("browser_extract_content")
    message = answer["error"]["message"]
    assert "did not answer any more" in message or "Timeout" in message
    await home_opens(talk, site)


async def test_a_page_that_never_says_what_it_shows(talk: Talk, site: Site) -> None:
    lie = "Object.defineProperty(document.body, 'innerText', {get() { for (;;); }})"
    await opened(talk, site, lie)
    _, message = await talk.failed("browser_extract_content")
    assert "did not answer any more" in message
    await home_opens(talk, site)


async def test_a_page_that_crashes(talk: Talk, site: Site) -> None:
    await home_opens(talk, site)
    await talk.call("browser_navigate_to", url=site.url("/"))
    await opened(
        talk,
        site,
        "const a = []; setTimeout(() => { for (;;) a.push(new Array(1e6).fill(1)) }, 99)",
    )
    await home_opens(talk, site)


async def test_pages_without_end(talk: Talk, site: Site) -> None:
    """Those that are too many are closed as they appear."""
    await opened(talk, site, "setInterval(() => window.open('/'), 20)")
    for _ in range(5):
        await talk.call("browser_extract_content")
    await home_opens(talk, site)


async def test_dialogs_stop_nothing(talk: Talk, site: Site) -> None:
    script = (
        "onbeforeunload = e => { e.preventDefault(); return 'stay' };"
        "alert(1); confirm(2); prompt(3); print()"
    )
    await opened(talk, site, script)
    assert await talk.ok("browser_extract_content")
    await home_opens(talk, site)


async def test_long_texts_are_read_piece_by_piece(talk: Talk, site: Site) -> None:
    """Half a character becomes a mark; titles and addresses have an end."""
    script = (
        "document.title = 't'.repeat(1e5);"
        "document.body.innerText = 'a'.repeat(29999) + '\\u{1F9F0}' + 'b'.repeat(100) + '\\ud800'"
    )
    said = await talk.ok("browser_navigate_to", url=site.url(f"/script?js={quote(script)}"))
    assert len(said["title"]) == 300
    first = await talk.ok("browser_extract_content")
    assert (len(first["content"]), first["characters_left"]) == (30_000, 102)
    rest = await talk.ok("browser_extract_content", offset=30_001)
    assert rest == {**rest, "content": "b" * 100 + "\ufffd", "characters_left": 0}


async def test_a_page_does_not_take_the_memory_of_the_machine(
    talk: Talk, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where a cgroup holds the browser, a page that wants more is killed, and browsing goes on."""
    if isolation().cgroups is None:
        missing("no cgroup can be made here")
    monkeypatch.setattr(chromium, "_MOST_MEMORY", 700 * MIB)
    script = (
        "const a = []; setInterval(() => "
        "{ for (let i = 0; i < 8; i++) a.push(new Uint8Array(2 ** 24).fill(1)) }, 5)"
    )
    await opened(talk, site, script)
    killed = False
    for _ in range(60):
        if not (await talk.call("browser_extract_content"))["success"]:
            killed = True
            break
        await asyncio.sleep(0.5)
    assert killed
    await home_opens(talk, site)
