"""A login is made by the word of whoever began it. Whoever opens an address that somebody else sent
them gives nothing away: neither by logging in, nor by whatever the sender knows."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from tests.stories.test_mcp_upstream import agent_of, call, tools_of
from tests.support.crib import URL, Person, open_crib, problem_of
from tests.support.logging_in import (
    CONNECTIONS,
    OAUTH,
    World,
    another,
    change,
    code_of,
    open_world,
)
from tests.support.mcp_guarded import GuardedMcp
from tests.support.tenants import make_tenants
from toolcrib.secrets.logins import LoginOwner
from toolcrib.settings import Settings
from toolcrib.storage.tables_logins import login_attempts

WRONG = "BBBB-BBBB"
COOKIE = "toolcrib-login"


@pytest.fixture
async def world(data_dir: Path) -> AsyncIterator[World]:
    async with open_world(data_dir) as made:
        yield made


async def waiting(world: World) -> tuple[str, httpx.Response]:
    """`(ref, the page at the end)` of a login that user A began and that waits."""
    ref = f"mcp:{await world.row()}"
    begun = await world.begin(world.tenants.user_a, ref)
    page = await world.visit(begun["url"])
    assert page.status_code == 200, page.text
    return ref, page


async def nothing_made(world: World) -> None:
    """User A has no login, and no attempt waits."""
    found = await world.shown(world.tenants.user_a)
    assert [one["status"] for one in found] == ["needs_login"] * len(found)


# --- somebody else opens the address --------------------------------------------------------------


async def test_who_opens_anothers_address_gives_nothing_away(world: World) -> None:
    """The victim logs in; the sender, who knows all but the page, guesses and gets nothing. What
    the server gave is revoked."""
    sender = world.tenants.user_a
    agent = await agent_of(world.tenants, sender, row := await world.row())
    ref = f"mcp:{row}"
    begun = await world.begin(sender, ref)
    page = await world.visit(begun["url"])
    await nothing_made(world)
    assert (await tools_of(sender, agent))["tools"] == []
    ticket = begun["url"].rpartition("/")[2]
    known = [WRONG, ticket, ticket[:9], "", begun["url"][:64]]
    told: list[str] = []
    for guess in known:
        refused = await world.confirm(sender, ref, guess)
        assert problem_of(refused) == (422, "invalid_request", "code"), guess
        told.append(refused.json()["detail"])
    assert "4 tries are left" in told[0]
    assert "one try is left" in told[3]
    assert "too often" in told[4]
    assert len(world.login.revoked) == 1
    too_late = await world.confirm(sender, ref, code_of(page))
    assert problem_of(too_late)[:2] == (404, "not_found")
    await nothing_made(world)


async def test_the_page_says_what_is_given_to_whom(world: World) -> None:
    """Before anything happens: for whom, at which server, where one logs in; and a way out."""
    begun = await world.begin(world.tenants.user_a, f"mcp:{await world.row()}")
    page = await (await world.crib.client()).get(begun["url"])
    for words in ("user-a (user ", world.server.place, world.login.place, "Deny", "Go on to"):
        assert words in page.text, words
    assert "Did somebody send you this address?" in page.text
    assert page.headers["referrer-policy"] == "same-origin"
    assert page.headers["x-frame-options"] == "DENY"
    assert "default-src 'none'" in page.headers["content-security-policy"]
    cookie = page.headers["set-cookie"].lower()
    assert {"httponly", "samesite=lax", "path=/", "max-age=600"} <= set(cookie.split("; "))
    end = await world.visit(begun["url"])
    for words in ("user-a (user ", world.server.place, "Give it to nobody", "Deny"):
        assert words in end.text, words
    assert "form-action 'self'" in end.headers["content-security-policy"]
    assert end.headers["cache-control"] == "no-store"


async def test_names_cannot_speak_for_us(world: World) -> None:
    """What others chose as names is shown as names: no markup, nothing hidden, not too long."""
    options = {
        "server_label": "</dd><script>alert(1)</script>\u202e" + "x" * 500,
        "server_url": f"{world.server.url}?key=of-the-server",
        "require_approval": "never",
        "auth": {**OAUTH, "issuer": world.login.url},
    }
    desk, operator = world.crib.desk, world.crib.operator
    row = await world.row()
    await desk.capabilities.update(operator, row, {"options": options})
    begun = await world.begin(world.tenants.user_a, f"mcp:{row}")
    page = await (await world.crib.client()).get(begun["url"])
    assert page.status_code == 200, page.text
    for words in ("<script", "\u202e", "x" * 100, "of-the-server", "/mcp"):
        assert words not in page.text, words


async def test_a_login_of_a_group_says_so(world: World) -> None:
    """Whoever agrees knows that all of the group get to use their account."""
    tenants = world.tenants
    ref = f"mcp:{await world.row(per='group')}"
    begun = await world.begin(tenants.admin_a, ref, group_id=tenants.a)
    page = await (await world.crib.client()).get(begun["url"])
    assert f"(group {tenants.a})" in page.text
    assert "everybody in it" in page.text
    assert "admin-a (user " in page.text
    end = await world.visit(begun["url"])
    code = code_of(end)
    for person in (tenants.user_a, tenants.user_b, tenants.admin_b):
        refused = await world.confirm(person, ref, code, group_id=tenants.a)
        assert refused.status_code in {403, 404}, refused.text
    await world.crib.desk.users.update(
        world.crib.operator, tenants.admin_a.id, group_ids=[tenants.b]
    )
    demoted = await world.confirm(tenants.admin_a, ref, code, group_id=tenants.a)
    assert demoted.status_code in {403, 404}, "they are no admin of the group any more"
    await world.crib.desk.users.update(
        world.crib.operator, tenants.admin_a.id, group_ids=[tenants.a]
    )
    assert (await world.confirm(tenants.admin_a, ref, code, group_id=tenants.a)).status_code == 200


async def test_who_says_no_before(world: World) -> None:
    """The address is good for nothing afterwards, and nobody was asked for anything."""
    ref = f"mcp:{await world.row()}"
    begun = await world.begin(world.tenants.user_a, ref)
    browser = await world.crib.client()
    back = await world.coming(begun["url"], browser)
    denied = await browser.post(f"{begun['url']}/deny")
    assert (denied.status_code, "Nothing is connected" in denied.text) == (200, True)
    for answer in (
        await browser.get(begun["url"]),
        await browser.post(f"{begun['url']}/continue"),
        await browser.post(f"{begun['url']}/deny"),
        await browser.get(back),
    ):
        assert answer.status_code == 422
        assert "not known" in answer.text
    assert world.login.count("authorization_code") == 0


async def test_who_says_no_at_the_end(world: World) -> None:
    """What the server gave is revoked, and the code that was shown is good for nothing."""
    ref, page = await waiting(world)
    action = re.search(r'action="(login/[^"]+/deny)"', page.text)
    assert action is not None
    denied = await (await world.crib.client()).post(f"/oauth/{action[1]}")
    assert denied.status_code == 200, denied.text
    assert [one.startswith("refresh-") for one in world.login.revoked] == [True]
    refused = await world.confirm(world.tenants.user_a, ref, code_of(page))
    assert problem_of(refused)[0] == 404
    await nothing_made(world)


# --- the browser ----------------------------------------------------------------------------------


async def test_another_browser_brings_nothing(world: World) -> None:
    """The sender goes on alone and passes on the server's own address, past our page: the browser
    that comes back is not theirs, so nothing is asked of the server."""
    ref = f"mcp:{await world.row()}"
    begun = await world.begin(world.tenants.user_a, ref)
    back = await world.coming(begun["url"], await world.crib.client())
    victim = await world.crib.client()
    other = await world.begin(world.tenants.admin_a, ref)
    await victim.get(other["url"])  # a cookie of ours, but not of this login
    came = await victim.get(back)
    assert came.status_code == 422
    assert "another browser" in came.text
    assert world.login.count("authorization_code") == 0
    refused = await world.confirm(world.tenants.user_a, ref, WRONG)
    assert problem_of(refused)[0] == 404, "the attempt is over"


async def test_the_browser_that_went_on_last_counts(world: World) -> None:
    """Also where the sender had gone on before: then theirs is the one that brings nothing."""
    begun = await world.begin(world.tenants.user_a, f"mcp:{await world.row()}")
    sender, victim = await world.crib.client(), await world.crib.client()
    stale = await world.coming(begun["url"], sender)
    fresh = await world.coming(begun["url"], victim)
    assert (await sender.get(stale)).status_code == 422
    assert (await sender.get(fresh)).status_code == 422
    assert world.login.count("authorization_code") == 0


@pytest.mark.parametrize("cookie", ["", "short", "x" * 44, "é" * 43])
async def test_a_browser_without_our_cookie_goes_nowhere(world: World, cookie: str) -> None:
    """Nor one that somebody planted a cookie of another form in."""
    begun = await world.begin(world.tenants.user_a, f"mcp:{await world.row()}")
    browser = await world.crib.client()
    headers = {"Cookie": f"{COOKIE}={cookie}".encode()} if cookie else {}
    sent = await browser.post(f"{begun['url']}/continue", headers=headers)
    assert (sent.status_code, "cookie" in sent.text) == (422, True)


async def test_another_site_cannot_go_on_for_somebody(world: World) -> None:
    """A page elsewhere that sends the form is refused by its origin; our cookie would not come."""
    begun = await world.begin(world.tenants.user_a, f"mcp:{await world.row()}")
    browser = await world.crib.client()
    await browser.get(begun["url"])
    for origin in ("https://evil.example", "null"):
        sent = await browser.post(f"{begun['url']}/continue", headers={"Origin": origin})
        assert problem_of(sent)[:2] == (403, "wrong_origin")
    own = await browser.post(f"{begun['url']}/continue", headers={"Origin": URL})
    assert own.status_code == 303


async def test_looking_changes_nothing(world: World) -> None:
    """A program that previews links, or a second look, takes nothing from the person."""
    begun = await world.begin(world.tenants.user_a, f"mcp:{await world.row()}")
    browser = await world.crib.client()
    back = await world.coming(begun["url"], browser)
    for _ in range(3):
        assert (await (await world.crib.client()).get(begun["url"])).status_code == 200
        assert (await browser.get(begun["url"])).status_code == 200
    assert (await browser.get(back)).status_code == 200


async def test_over_https_the_cookie_is_this_hosts_alone(world: World, tmp_path: Path) -> None:
    """No neighbour below the same domain can plant one, and it is never sent in the clear."""
    folder = tmp_path / "public"
    folder.mkdir()
    settings = Settings(
        data_dir=folder, egress_allow=("127.0.0.0/8",), public_url="https://crib.example.com/x"
    )
    async with open_crib(settings) as crib:
        public = World(crib, await make_tenants(crib), world.login, world.server)
        person = public.tenants.user_a
        ref = f"mcp:{await public.row()}"
        begun = await public.begin(person, ref)
        browser = await crib.client()
        page = await browser.get(begun["url"])
        cookie = page.headers["set-cookie"].lower()
        assert cookie.startswith("__host-")
        assert {"secure", "path=/", "httponly"} <= set(cookie.split("; "))
        assert "domain" not in cookie
        end = await public.visit(begun["url"])
        assert (await public.confirm(person, ref, code_of(end))).status_code == 200


# --- the word of the beginner ---------------------------------------------------------------------


async def test_nobody_else_confirms(world: World) -> None:
    """Neither a colleague, nor an admin, nor another tenant, nor a token of one agent; and their
    tries do not count as the beginner's."""
    tenants = world.tenants
    ref, page = await waiting(world)
    agent = await agent_of(tenants, tenants.user_a, int(ref.partition(":")[2]))
    bound = await world.crib.somebody(tenants.user_a.id, agent_id=agent)
    others = (tenants.admin_a, tenants.user_b, tenants.admin_b, await world.crib.somebody(1), bound)
    for person in others:
        for _ in range(3):
            refused = await world.confirm(person, ref, code_of(page))
            assert refused.status_code in {403, 404}, refused.text
    nobody = await (await world.crib.client()).post(
        f"{CONNECTIONS}/{ref}/confirm", json={"code": code_of(page)}
    )
    assert problem_of(nobody)[0] == 401
    typed = f" {code_of(page).lower().replace('-', ' ')} "
    assert (await world.confirm(tenants.user_a, ref, typed)).status_code == 200
    assert [one["status"] for one in await world.shown(tenants.admin_a)] == ["needs_login"]


async def test_a_code_is_for_its_login(world: World) -> None:
    """The code of one server opens none at another, nor the same server's for a group."""
    tenants = world.tenants
    ref, page = await waiting(world)
    other = f"mcp:{await world.row('another', per='group')}"
    begun = await world.begin(tenants.admin_a, other, group_id=tenants.a)
    await world.visit(begun["url"])
    crossed = await world.confirm(tenants.admin_a, other, code_of(page), group_id=tenants.a)
    assert problem_of(crossed)[0] == 422
    assert (await world.confirm(tenants.user_a, ref, code_of(page))).status_code == 200


async def test_many_say_it_at_once(world: World) -> None:
    """One of them makes the login, once; the others find it done."""
    ref, page = await waiting(world)
    user = world.tenants.user_a
    answers = await asyncio.gather(*(world.confirm(user, ref, code_of(page)) for _ in range(5)))
    assert sorted(one.status_code for one in answers) == [200, 404, 404, 404, 404]
    assert (await world.confirm(user, ref, code_of(page))).status_code == 404
    assert world.login.revoked == []
    [shown] = await world.shown(user)
    assert shown["status"] == "connected"


async def test_many_guesses_at_once_are_five(world: World) -> None:
    """However they are sent, and the right one does not come through among them afterwards."""
    ref, page = await waiting(world)
    user = world.tenants.user_a
    guesses = await asyncio.gather(*(world.confirm(user, ref, WRONG) for _ in range(20)))
    told = [problem_of(one)[0] for one in guesses]
    assert told.count(422) == 5
    assert told.count(404) == 15
    assert (await world.confirm(user, ref, code_of(page))).status_code == 404
    assert len(world.login.revoked) == 1


async def test_before_the_browser_is_back(world: World) -> None:
    """It is said that there is nothing to confirm yet; no try is lost by it."""
    user, ref = world.tenants.user_a, f"mcp:{await world.row()}"
    assert problem_of(await world.confirm(user, ref, WRONG))[0] == 404
    begun = await world.begin(user, ref)
    for _ in range(6):
        assert problem_of(await world.confirm(user, ref, WRONG))[:2] == (409, "conflict")
    page = await world.visit(begun["url"])
    assert (await world.confirm(user, ref, code_of(page))).status_code == 200


async def test_what_is_not_confirmed_ends(world: World) -> None:
    """After five minutes the code is good for nothing, and the sweep revokes what there was."""
    ref, page = await waiting(world)
    platform = world.crib.platform
    user = world.tenants.user_a.id
    attempt = await platform.storage.attempts.of(user, ref, LoginOwner(user_id=user))
    assert attempt is not None
    left = attempt.expires_at - platform.storage.database.now()
    assert timedelta(minutes=4) < left <= timedelta(minutes=5)
    await change(world, login_attempts, expires_at=platform.storage.database.now())
    refused = await world.confirm(world.tenants.user_a, ref, code_of(page))
    assert problem_of(refused)[0] == 404
    await platform.logins.confirming.sweep()
    assert len(world.login.revoked) == 1
    await platform.logins.confirming.sweep()
    assert len(world.login.revoked) == 1
    await nothing_made(world)


async def test_who_begins_anew_ends_the_older(world: World) -> None:
    """Its code is good for nothing, and what its server gave is revoked."""
    ref, page = await waiting(world)
    user = world.tenants.user_a
    begun = await world.begin(user, ref)
    assert len(world.login.revoked) == 1
    assert problem_of(await world.confirm(user, ref, code_of(page)))[0] == 409
    newer = await world.visit(begun["url"])
    assert problem_of(await world.confirm(user, ref, code_of(page)))[0] == 422
    assert (await world.confirm(user, ref, code_of(newer))).status_code == 200


async def test_an_older_login_stays_until_the_newer_is_confirmed(world: World) -> None:
    """Whoever logs in again can call all the while."""
    user = world.tenants.user_a
    row = await world.row()
    agent = await agent_of(world.tenants, user, row)
    assert (await world.connect(user, f"mcp:{row}")).status_code == 200
    await world.until_listed(user, agent, "echo")
    page = await world.visit((await world.begin(user, f"mcp:{row}"))["url"])
    assert (await call(user, agent, "echo"))["success"]
    before = world.server.tokens[-1]
    assert (await world.confirm(user, f"mcp:{row}", code_of(page))).status_code == 200
    await world.until_listed(user, agent, "echo")
    assert (await call(user, agent, "echo"))["success"]
    assert world.server.tokens[-1] != before


async def test_a_server_that_moved_meanwhile(world: World) -> None:
    """What was agreed to for one address is not made a login for another; it is revoked."""
    ref, page = await waiting(world)
    async with GuardedMcp(world.login) as other:
        options = {
            "server_label": "guarded",
            "server_url": other.url,
            "require_approval": "never",
            "auth": OAUTH,
        }
        row = int(ref.partition(":")[2])
        await world.crib.desk.capabilities.update(world.crib.operator, row, {"options": options})
        refused = await world.confirm(world.tenants.user_a, ref, code_of(page))
        assert problem_of(refused)[:2] == (422, "invalid_request")
        assert len(world.login.revoked) == 1
        await nothing_made(world)


async def test_nothing_that_opens_anything_lies_open(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    """Neither code nor ticket nor state nor cookie nor token stands in the database or the log."""
    user, ref = world.tenants.user_a, f"mcp:{await world.row()}"
    begun = await world.begin(user, ref)
    browser = await world.crib.client()
    address = await world.coming(begun["url"], browser)
    page = await browser.get(address)
    secrets = {
        code_of(page),
        code_of(page).replace("-", ""),
        begun["url"].rpartition("/")[2],
        parse_qs(urlsplit(address).query)["state"][0],
        browser.cookies[COOKIE],
        *(token for grant in world.login.grants for token in grant.access),
    }
    database = world.crib.platform.settings.data_dir / "toolcrib.db"
    raw = database.read_bytes() + database.with_name("toolcrib.db-wal").read_bytes()
    assert len(secrets) == 6
    for secret in secrets:
        assert secret.encode() not in raw
        assert secret not in caplog.text


# --- other processes ------------------------------------------------------------------------------


async def test_the_server_starts_anew_in_between(data_dir: Path, storage_url: str) -> None:
    """At any step: what was begun lies in the database."""
    async with open_world(data_dir, database_url=storage_url) as world:
        user, ref = world.tenants.user_a, f"mcp:{await world.row()}"
        begun = await world.begin(user, ref)
        async with another(world) as later:
            browser = await later.crib.client()
            address = await later.going(begun["url"], browser)
        async with httpx.AsyncClient(trust_env=False) as outside:
            back = (await outside.get(address)).headers["location"]
        async with another(world) as later:
            comes = await later.crib.client()
            comes.cookies.update(browser.cookies)
            page = await comes.get(back)
            assert page.status_code == 200, page.text
        async with another(world) as later:
            person = await as_seen_by(later, user)
            assert (await later.confirm(person, ref, code_of(page))).status_code == 200
        assert [one["status"] for one in await world.shown(user)] == ["connected"]


async def test_two_processes_confirm_once(data_dir: Path, storage_url: str) -> None:
    """Whichever a request reaches: begun here, gone on there, confirmed by one of both."""
    async with open_world(data_dir, database_url=storage_url) as here, another(here) as there:
        user, ref = here.tenants.user_a, f"mcp:{await here.row()}"
        twin = await as_seen_by(there, user)
        sides = [(here, user), (there, twin)]
        page = await there.visit((await here.begin(user, ref))["url"])
        wrong = await asyncio.gather(*(side.confirm(who, ref, WRONG) for side, who in sides))
        assert [one.status_code for one in wrong] == [422, 422]
        right = await asyncio.gather(
            *(side.confirm(who, ref, code_of(page)) for side, who in [*sides, *sides[:1]])
        )
        assert sorted(one.status_code for one in right) == [200, 404, 404]
        for side, who in sides:
            assert [one["status"] for one in await side.shown(who)] == ["connected"]
        assert here.login.revoked == []


async def as_seen_by(world: World, person: Person) -> Person:
    """The same person, with the same token, in another process."""
    return replace(person, api=await world.crib.client(person.token))
