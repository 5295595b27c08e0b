"""Agents browse as a person would, each chat in a session of its own."""

from __future__ import annotations

import base64
import struct

from tests.builtin.browser.conftest import Site
from tests.support.chatting import Office, Talk, open_office
from toolcrib.settings import Settings


async def test_logging_in_to_a_site(talk: Talk, site: Site) -> None:
    """Open, read the outline, fill in, choose, click, read what is behind the login."""
    opened = await talk.ok("browser_navigate_to", url=site.url())
    assert (opened["status"], opened["title"], opened["url"]) == (200, "Log in", site.url("/"))
    assert 'button "Sign in"' in opened["outline"]
    await talk.ok("browser_act", action="fill", target="Name", value="ada")
    await talk.ok("browser_act", action="fill", target='textbox "Password"', value="lovelace")
    await talk.ok("browser_act", action="check", target='checkbox "Stay"')
    await talk.ok("browser_act", action="select", target="Bench", value="south")
    shown = await talk.ok("browser_act", action="click", target='button "Sign in"')
    assert shown["title"] == "Private"
    read = await talk.ok("browser_extract_content")
    assert read["content"].splitlines() == ["Hello ada", "", "bench=south&stay=on"]
    assert read["characters_left"] == 0
    assert site.seen[-2:] == ["POST /login", "GET /private"]


async def test_reading_in_every_form(talk: Talk, site: Site) -> None:
    """Text, outline, links and HTML, of the page or a part of it, from any place on."""
    await talk.ok("browser_navigate_to", url=site.url())

    async def read(what: str, **more: object) -> str:
        return (await talk.ok("browser_extract_content", what=what, **more))["content"]

    assert (await read("text")).startswith("Workshop")
    assert await read("text", target="h1", offset=4) == "shop"
    assert 'link "Private"' in await read("outline")
    assert await read("links") == f"Private <{site.url('/private')}>"
    assert await read("html", target="h1") == "<h1>Workshop</h1>"


async def test_a_screenshot_is_an_image(talk: Talk, site: Site) -> None:
    """A PNG of the window's size, beside the page's title."""
    await talk.ok("browser_navigate_to", url=site.url())
    answer = await talk.call("browser_screenshot")
    assert [part["type"] for part in answer["content"]] == ["text", "image"]
    assert answer["text"] == f"Log in <{site.url('/')}>"
    picture = base64.b64decode(answer["content"][1]["data"])
    assert answer["content"][1]["mimeType"] == "image/png"
    assert picture.startswith(b"\x89PNG")
    assert struct.unpack(">II", picture[16:24]) == (1280, 800)


async def test_targets_that_are_not_there_are_named(talk: Talk, site: Site) -> None:
    """The model can mend them: what it asked for, and how to see what is there."""
    await talk.ok("browser_navigate_to", url=site.url())
    for target, why in (("Sign out", "is not on the page"), ("input", "is on the page 3 times")):
        code, message = await talk.failed("browser_act", action="click", target=target)
        assert (code, why in message) == ("invalid_arguments", True)
    code, _ = await talk.failed("browser_act", action="dance")
    assert code == "invalid_arguments"


async def test_chats_share_no_session(office: Office, site: Site) -> None:
    """A login in one chat is none in another, and ends with its chat."""
    ada = await office.person("ada")
    one, two = await office.talk(ada), await office.talk(ada)
    await one.ok("browser_navigate_to", url=site.url())
    for target, value in (("Name", "ada"), ("Password", "lovelace")):
        await one.ok("browser_act", action="fill", target=target, value=value)
    await one.ok("browser_act", action="press", target="Password", value="Enter")
    assert (await one.ok("browser_navigate_to", url=site.url("/private")))["status"] == 200
    assert (await two.ok("browser_navigate_to", url=site.url("/private")))["status"] == 403
    tool = browser_of(office)
    assert len(tool._sessions._sessions) == 2
    await one.end()
    assert [key.number for key in tool._sessions._sessions] == [two.chat["id"]]


async def test_an_idle_session_ends(talk: Talk, site: Site) -> None:
    """Its cookies go; the next page opens a new one."""
    await talk.ok("browser_navigate_to", url=site.url())
    rooms = talk.crib.platform.rooms
    sessions = browser_of(talk)._sessions
    await rooms.tidy()
    assert len(sessions._sessions) == 1
    for session in sessions._sessions.values():
        session.used -= rooms.browser.idle + 1
    await rooms.tidy()
    assert sessions._sessions == {}
    assert (await talk.ok("browser_navigate_to", url=site.url()))["status"] == 200


async def test_without_a_browser_nothing_is_offered(settings: Settings) -> None:
    """The reason and what would change it stand among the skips."""
    none = settings.model_copy(update={"browser": "/missing/chromium"})
    async with open_office(none, ["browser"]) as office:
        ada = await office.person("ada")
        answer = await ada.api.get(f"/api/v1/agents/{office.agent}/tools")
        assert answer.json()["tools"] == []
        assert answer.json()["skipped"] == [
            {
                "ref": "native:browser",
                "reason": "TOOLCRIB_BROWSER names '/missing/chromium', which is no program",
                "fix": "Name a Chromium.",
            }
        ]


def browser_of(place: Office | Talk) -> object:
    entries = place.crib.platform.registry.snapshot().bundles["browser"].entries
    return entries[0].obj
