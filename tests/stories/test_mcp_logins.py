"""Servers that want OAuth: a person logs in once, and the token is got, kept, renewed and ended."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from datetime import timedelta
from pathlib import Path
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

import pytest
from aiohttp import web

from tests.stories.test_mcp_upstream import agent_of, call, server_row, tools_of
from tests.support.authorizing import Authorizing
from tests.support.crib import Person, open_crib, problem_of
from tests.support.logging_in import (
    CONNECTIONS,
    OAUTH,
    World,
    age,
    change,
    code_of,
    open_world,
)
from tests.support.mcp_guarded import GuardedMcp
from tests.support.mcp_http import text
from tests.support.tenants import make_tenants
from toolcrib.langchain import get_tools_from_capabilities
from toolcrib.settings import Settings
from toolcrib.sources.oauth.registering import name_of
from toolcrib.storage.tables_logins import login_attempts, logins

CALLBACK = "/oauth/callback/"


@pytest.fixture
async def world(data_dir: Path) -> AsyncIterator[World]:
    async with open_world(data_dir) as made:
        yield made


async def test_a_person_logs_in_and_calls(world: World) -> None:
    """From nothing but the server's address: metadata, registration, PKCE, the call."""
    user = world.tenants.user_a
    row = await world.row()
    agent = await agent_of(world.tenants, user, row)
    before = await tools_of(user, agent)
    assert before["tools"] == []
    [skip] = before["skipped"]
    assert (skip["ref"], skip["reason"]) == (
        f"mcp:{row}",
        "not connected: nobody has logged in there yet",
    )
    assert CONNECTIONS in skip["fix"]

    begun = await world.begin(user, f"mcp:{row}")
    browser = await world.crib.client()
    address = await world.going(begun["url"], browser)
    query = {k: v[0] for k, v in parse_qs(urlsplit(address).query).items()}
    assert query["code_challenge_method"] == "S256"
    assert (query["resource"], query["scope"]) == (world.server.url, "tools")
    callback = f"http://127.0.0.1:8420/oauth/callback/{name_of(world.login.url)}"
    assert query["redirect_uri"] == callback

    page = await world.visit(begun["url"])
    assert page.status_code == 200, page.text
    assert "Almost connected" in page.text
    assert page.headers["content-type"].startswith("text/html")
    made = await world.confirm(user, f"mcp:{row}", code_of(page))
    assert (made.status_code, made.json()["status"]) == (200, "connected"), made.text

    await world.until_listed(user, agent, "echo")
    done = await call(user, agent, "echo", word="hello")
    assert done["success"], done
    assert world.server.tokens[-1].startswith("access-")
    [shown] = await world.shown(user)
    assert (shown["status"], shown["ref"], shown["user_id"]) == ("connected", f"mcp:{row}", user.id)
    assert (shown["issuer"], shown["scopes"]) == (world.login.url, ["tools"])


async def test_everybody_has_a_login_of_their_own(world: World) -> None:
    """What one connected is nobody else's, and each call goes with its caller's token."""
    tenants = world.tenants
    row = await world.row()
    agent = await agent_of(tenants, tenants.admin_a, row)
    one, other = tenants.user_a, tenants.admin_a
    assert (await world.connect(one, f"mcp:{row}")).status_code == 200
    await world.until_listed(one, agent, "echo")
    assert (await tools_of(other, agent))["tools"] == []
    assert [row["status"] for row in await world.shown(other)] == ["needs_login"]

    assert (await world.connect(other, f"mcp:{row}")).status_code == 200
    await world.until_listed(other, agent, "echo")
    tokens: list[str] = []
    for person in (one, other, one):
        assert (await call(person, agent, "echo"))["success"]
        tokens.append(world.server.tokens[-1])
    assert tokens[0] == tokens[2] != tokens[1]


async def test_a_groups_login_is_its_admins_to_make(world: World) -> None:
    """Members use it; they neither make nor end it; other groups have none of it."""
    tenants = world.tenants
    row = await world.row(per="group")
    ref = f"mcp:{row}"
    body = {"ref": ref, "group_id": tenants.a}
    refused = await tenants.user_a.api.post(CONNECTIONS, json=body)
    assert problem_of(refused)[:2] == (403, "not_granted")
    hidden = await tenants.user_b.api.post(CONNECTIONS, json=body)
    assert problem_of(hidden)[:2] == (404, "not_found")

    assert (await world.connect(tenants.admin_a, ref, group_id=tenants.a)).status_code == 200
    agent = await agent_of(tenants, tenants.user_a, row)
    await world.until_listed(tenants.user_a, agent, "echo")
    assert (await call(tenants.user_a, agent, "echo"))["success"]
    assert [one["status"] for one in await world.shown(tenants.user_b)] == ["needs_login"]
    gone = await tenants.user_a.api.delete(f"{CONNECTIONS}/{ref}", params={"group_id": tenants.a})
    assert problem_of(gone)[0] == 403


async def test_another_group_s_settings_make_no_login(world: World) -> None:
    """A login of one's own is filled from one's own groups, never from any that is named."""
    tenants = world.tenants
    row = await world.row(client_id="${APP_ID}", issuer=world.login.url)
    ref = f"mcp:{row}"
    await world.crib.desk.settings.put(
        tenants.admin_a.caller, "APP_ID", "the-app-of-a", group_id=tenants.a
    )
    within = await world.begin(tenants.user_a, ref, group_id=tenants.a)
    browser = await world.crib.client()
    assert "the-app-of-a" in await world.going(within["url"], browser)

    body = {"ref": ref, "group_id": tenants.a}
    for answer in (
        await tenants.user_b.api.post(CONNECTIONS, json=body),
        await world.confirm(tenants.user_b, ref, "AAAA-AAAA", group_id=tenants.a),
        await tenants.user_b.api.post(CONNECTIONS, json={**body, "group_id": 999}),
    ):
        assert problem_of(answer)[:2] == (404, "not_found"), answer.text


async def test_a_token_is_renewed_before_it_ends(world: World) -> None:
    """Many calls at once, one request to the server, nobody waits longer than for that one."""
    user = world.tenants.user_a
    row = await world.row()
    agent = await agent_of(world.tenants, user, row)
    world.login.lives = 5  # within the margin: it counts as over at once
    await world.connect(user, f"mcp:{row}")
    world.login.lives = 3600
    found = await asyncio.gather(
        *(
            world.crib.platform.logins.credentials.token(w)
            for w in [await wanted(world, user, row)] * 20
        )
    )
    assert len(set(found)) == 1
    assert world.login.count("refresh_token") == 1
    await world.until_listed(user, agent, "echo")
    assert (await call(user, agent, "echo"))["success"]
    assert world.login.punished == 0


async def wanted(world: World, person: Person, row: int) -> Any:
    places = world.crib.desk.connections._places  # pyright: ignore[reportPrivateUsage]
    return await places.get(person.caller, f"mcp:{row}", group_id=None)


async def test_a_refused_token_is_renewed_and_the_call_goes_again(world: World) -> None:
    """The server forgot the token before its time: it did nothing, so asking again is safe."""
    user = world.tenants.user_a
    row = await world.row()
    agent = await agent_of(world.tenants, user, row)
    await world.connect(user, f"mcp:{row}")
    await world.until_listed(user, agent, "echo")
    await age(world)
    world.login.expire()
    done = await asyncio.gather(*(call(user, agent, "echo") for _ in range(8)))
    assert [one["success"] for one in done] == [True] * 8
    assert world.login.count("refresh_token") == 1
    assert world.server.count("tools/call") == 8


# --- what is refused ------------------------------------------------------------------------------


async def test_an_answer_counts_once(world: World) -> None:
    """A state is used up by whoever comes first with it; a made-up one is nobody's."""
    user = world.tenants.user_a
    row = await world.row()
    begun = await world.begin(user, f"mcp:{row}")
    browser = await world.crib.client()
    back = await world.coming(begun["url"], browser)
    assert (await browser.get(back)).status_code == 200
    again = await browser.get(back)
    assert again.status_code == 422
    assert "not known" in again.text
    assert world.login.count("authorization_code") == 1
    made_up = await browser.get("/oauth/callback", params={"state": "x", "code": "y"})
    assert made_up.status_code == 422
    assert "code" not in made_up.headers.get("location", "")


async def test_an_answer_that_comes_too_late(world: World) -> None:
    """Ten minutes, then it is begun anew."""
    row = await world.row()
    begun = await world.begin(world.tenants.user_a, f"mcp:{row}")
    browser = await world.crib.client()
    back = await world.coming(begun["url"], browser)
    await change(world, login_attempts, expires_at=world.crib.platform.storage.database.now())
    assert (await browser.get(back)).status_code == 422
    assert (await browser.get(begun["url"])).status_code == 422
    assert world.login.count("authorization_code") == 0


@pytest.mark.parametrize("issuer", [None, "https://evil.example"])
async def test_the_answer_must_name_its_server(world: World, issuer: str | None) -> None:
    """RFC 9207: a server that says who it is says so in every answer, and is who was asked."""
    row = await world.row()
    world.login.issuer_in_answer = issuer
    page = await world.connect(world.tenants.user_a, f"mcp:{row}")
    assert page.status_code == 422
    assert "another authorization server" in page.text
    assert world.login.count("authorization_code") == 0


async def test_a_person_who_says_no(world: World) -> None:
    """The page says the server's code, and nothing else of what came back."""
    row = await world.row()
    world.login.denies = True
    page = await world.connect(world.tenants.user_a, f"mcp:{row}")
    assert (page.status_code, "access_denied" in page.text) == (422, True)
    begun = await world.begin(world.tenants.user_a, f"mcp:{row}")
    browser = await world.crib.client()
    address = await world.going(begun["url"], browser)
    state = parse_qs(urlsplit(address).query)["state"][0]
    hostile = {"state": state, "error": "<script>alert(1)</script>", "iss": world.login.url}
    page = await browser.get(CALLBACK + name_of(world.login.url), params=hostile)
    assert page.status_code == 422
    assert "script" not in page.text
    assert "default-src 'none'" in page.headers["content-security-policy"]


METADATA: dict[str, tuple[dict[str, Any], str]] = {
    "no PKCE": ({"code_challenge_methods_supported": None}, "PKCE"),
    "plain PKCE only": ({"code_challenge_methods_supported": ["plain"]}, "PKCE"),
    "another issuer": ({"issuer": "https://evil.example"}, "another issuer"),
    "no login": ({"authorization_endpoint": None}, "no endpoint"),
    "no tokens": ({"token_endpoint": None}, "no token endpoint"),
    "a script as login": ({"authorization_endpoint": "javascript:alert(1)"}, "plain https"),
    "a name in other letters": ({"authorization_endpoint": "https://logín.example"}, "plain https"),
    "a path in other letters": ({"authorization_endpoint": "https://a.example/\u202e"}, "plain"),
    "a line break in it": ({"authorization_endpoint": "https://a.example/\r\nX: 1"}, "plain https"),
    "a fragment": ({"authorization_endpoint": "https://a.example/#x"}, "plain https"),
    "tokens in other letters": ({"token_endpoint": "https://tokén.example"}, "plain https"),
    "clients in other letters": ({"registration_endpoint": "https://é.example"}, "plain https"),
    "an end in other letters": ({"revocation_endpoint": "https://é.example"}, "plain https"),
    "a port that is none": ({"token_endpoint": "https://a.example:99999/"}, "plain https"),
    "a private login": ({"authorization_endpoint": "https://10.0.0.1/login"}, "refused"),
    "no registration": ({"registration_endpoint": None}, "registers nobody"),
}


@pytest.mark.parametrize("wrong", METADATA)
async def test_servers_that_are_not_logged_in_to(world: World, wrong: str) -> None:
    """Nobody is sent to them, and the reason is said."""
    changes, words = METADATA[wrong]
    world.login.metadata = changes
    row = await world.row()
    answer = await world.tenants.user_a.api.post(CONNECTIONS, json={"ref": f"mcp:{row}"})
    assert answer.status_code in {422, 502}, answer.text
    assert words in answer.json()["detail"]


async def test_metadata_of_another_resource(world: World) -> None:
    """A server cannot have tokens made out for somebody else."""
    row = await world.row()
    world.server.metadata = {"resource": "https://bank.example/mcp"}
    answer = await world.tenants.user_a.api.post(CONNECTIONS, json={"ref": f"mcp:{row}"})
    assert "another resource" in answer.json()["detail"]


async def test_a_server_cannot_lead_inside(data_dir: Path) -> None:
    """An authorization server on a private address that the operator did not allow is not asked."""
    async with AsyncExitStack() as stack:
        login = await stack.enter_async_context(Authorizing())
        server = await stack.enter_async_context(GuardedMcp(login))
        settings = Settings(data_dir=data_dir, egress_allow=(server.place,))
        crib = await stack.enter_async_context(open_crib(settings))
        world = World(crib, await make_tenants(crib), login, server)
        row = await world.row()
        answer = await world.tenants.user_a.api.post(CONNECTIONS, json={"ref": f"mcp:{row}"})
        assert problem_of(answer)[:2] == (422, "blocked")
        assert login.asked == []


async def test_a_token_goes_to_the_address_it_was_made_for(world: World) -> None:
    """Whoever changes the server's address does not get the logins of everybody."""
    user = world.tenants.user_a
    row = await world.row()
    agent = await agent_of(world.tenants, user, row)
    await world.connect(user, f"mcp:{row}")
    await world.until_listed(user, agent, "echo")
    async with GuardedMcp(world.login) as other:
        options = {
            "server_label": "guarded",
            "server_url": other.url,
            "require_approval": "never",
            "auth": OAUTH,
        }
        await world.crib.desk.capabilities.update(world.crib.operator, row, {"options": options})
        [skip] = (await tools_of(user, agent))["skipped"]
        assert skip["reason"] == "not connected: the server's address is another one since"
        assert [one["status"] for one in await world.shown(user)] == ["needs_login"]
        assert not any("authorization" in seen.lower() for seen in other.received)


async def test_a_login_that_is_over(world: World) -> None:
    """The server ended it: the list says so, nothing is asked again and again."""
    user = world.tenants.user_a
    row = await world.row()
    agent = await agent_of(world.tenants, user, row)
    await world.connect(user, f"mcp:{row}")
    await world.until_listed(user, agent, "echo")
    await age(world)
    for grant in world.login.grants:
        grant.over = True
    failed = await call(user, agent, "echo")
    assert failed["error"]["code"] == "secret_missing", failed
    assert "not connected" in failed["error"]["message"]
    [shown] = await world.shown(user)
    assert (shown["status"], shown["error"]) == (
        "needs_login",
        "The authorization server refused: invalid_grant.",
    )
    asked = world.login.count("refresh_token")
    [skip] = (await tools_of(user, agent))["skipped"]
    assert skip["reason"].startswith("not connected: The authorization server refused")
    assert world.login.count("refresh_token") == asked == 1
    assert (await world.connect(user, f"mcp:{row}")).status_code == 200
    await world.until_listed(user, agent, "echo")


async def test_a_server_that_is_down_for_a_while(world: World) -> None:
    """The call fails with the reason, the login stays, and the next call works."""
    user = world.tenants.user_a
    row = await world.row()
    agent = await agent_of(world.tenants, user, row)
    await world.connect(user, f"mcp:{row}")
    await world.until_listed(user, agent, "echo")
    world.login.fails = (503, {})
    await change(world, logins, expires_at=world.crib.platform.storage.database.now())
    await world.crib.platform.storage.signals.bump("mcp")
    failed = await call(user, agent, "echo")
    assert not failed["success"]
    assert "HTTP 503" in failed["error"]["message"]
    assert [one["status"] for one in await world.shown(user)] == ["connected"]
    world.login.fails = None
    assert (await call(user, agent, "echo"))["success"]


async def test_a_login_without_renewal_ends(world: World) -> None:
    """No refresh token: it is shown as expired, and a person is asked."""
    user = world.tenants.user_a
    row = await world.row()
    agent = await agent_of(world.tenants, user, row)
    world.login.refreshes = False
    await world.connect(user, f"mcp:{row}")
    await world.until_listed(user, agent, "echo")
    await change(world, logins, expires_at=world.crib.platform.storage.database.now())
    await world.crib.platform.storage.signals.bump("mcp")
    assert [one["status"] for one in await world.shown(user)] == ["expired"]
    [skip] = (await tools_of(user, agent))["skipped"]
    assert skip["reason"] == "not connected: the login has expired"


async def test_a_server_that_refuses_what_it_was_just_given(world: World) -> None:
    """No storm of renewals: the refusal is the answer."""
    user = world.tenants.user_a
    row = await world.row()
    agent = await agent_of(world.tenants, user, row)
    await world.connect(user, f"mcp:{row}")
    await world.until_listed(user, agent, "echo")
    await age(world, timedelta(minutes=-5))  # just given, however slow this machine is
    world.server.refuses = True
    for _ in range(3):
        failed = await call(user, agent, "echo")
        assert failed["error"]["code"] == "not_granted", failed
    assert world.login.count("refresh_token") == 0


async def test_disconnecting_ends_it_everywhere(world: World) -> None:
    """Revoked at its server, forgotten here, and gone from the list of tools."""
    user = world.tenants.user_a
    row = await world.row()
    agent = await agent_of(world.tenants, user, row)
    await world.connect(user, f"mcp:{row}")
    await world.until_listed(user, agent, "echo")
    gone = await user.api.delete(f"{CONNECTIONS}/mcp:{row}")
    assert gone.status_code == 204, gone.text
    assert [one.startswith("refresh-") for one in world.login.revoked] == [True]
    assert (await tools_of(user, agent))["tools"] == []
    assert problem_of(await user.api.delete(f"{CONNECTIONS}/mcp:{row}"))[0] == 404


async def test_what_cannot_be_connected(world: World) -> None:
    """Servers without a login, unknown refs, others' rows, tokens of one agent."""
    tenants, user = world.tenants, world.tenants.user_a
    plain = await server_row(world.crib, "plain", world.server.url)
    row = await world.row()
    for ref in (f"mcp:{plain}", "mcp:999999", "mcp:x", "package:none", "nonsense", ""):
        answer = await user.api.post(CONNECTIONS, json={"ref": ref})
        assert problem_of(answer)[0] == 404, ref
    agent = await agent_of(tenants, user, row)
    bound = await world.crib.somebody(user.id, agent_id=agent)
    answer = await bound.api.post(CONNECTIONS, json={"ref": f"mcp:{row}"})
    assert answer.status_code in {403, 404}


# --- client credentials, clients of one's own -----------------------------------------------------


async def machine_row(world: World, secret: str, **auth: Any) -> int:
    """A capability that a machine logs in for, known to the server by this secret."""
    world.login.client("machine", secret=secret)
    return await world.row(
        grant="client_credentials",
        client_id="machine",
        client_secret="${MACHINE_SECRET}",
        issuer=world.login.url,
        **auth,
    )


async def test_client_credentials_need_nobody(world: World) -> None:
    """The secret comes from the user's settings; the token is got at the first look."""
    user = world.tenants.user_a
    row = await machine_row(world, "s3cret-of-the-machine", scopes=["read"])
    agent = await agent_of(world.tenants, user, row)
    [skip] = (await tools_of(user, agent))["skipped"]
    assert "MACHINE_SECRET" in skip["reason"]
    setting = {"value": "s3cret-of-the-machine", "hosts": [world.login.place]}
    await user.api.put("/api/v1/settings/MACHINE_SECRET", json=setting)
    await world.until_listed(user, agent, "echo")
    assert (await call(user, agent, "echo"))["success"]
    assert world.login.count("client_credentials") == 1
    form = next(f for _, f in world.login.asked if f.get("grant_type") == "client_credentials")
    assert (form["resource"], form["scope"]) == (world.server.url, "read")
    assert "client_secret" not in form, "it went in the header"


async def test_a_wrong_secret_is_not_tried_all_the_time(world: World) -> None:
    """The reason is shown; the server is left in peace for a while."""
    user = world.tenants.user_a
    row = await machine_row(world, "the-right-one")
    await user.api.put("/api/v1/settings/MACHINE_SECRET", json={"value": "the-wrong-one"})
    agent = await agent_of(world.tenants, user, row)
    for _ in range(5):
        [skip] = (await tools_of(user, agent))["skipped"]
        assert "invalid_client" in skip["reason"]
        assert "the-wrong-one" not in skip["reason"]
        await age(world, timedelta(minutes=-5))
    assert world.login.count("client_credentials") == 1


async def test_a_secret_goes_to_its_hosts_only(world: World) -> None:
    """A client secret that is limited to another host is not sent to the issuer."""
    user = world.tenants.user_a
    row = await machine_row(world, "limited-secret")
    setting = {"value": "limited-secret", "hosts": ["login.example.com"]}
    await user.api.put("/api/v1/settings/MACHINE_SECRET", json=setting)
    agent = await agent_of(world.tenants, user, row)
    [skip] = (await tools_of(user, agent))["skipped"]
    assert "may go to login.example.com only" in skip["reason"]
    assert world.login.count("client_credentials") == 0


async def test_a_client_that_was_registered_by_hand(world: World) -> None:
    """Its id and secret from the definition; nothing is registered."""
    user = world.tenants.user_a
    redirect = "http://127.0.0.1:8420/oauth/callback"
    world.login.client("by-hand", secret="given-by-hand", redirect=redirect)
    row = await world.row(
        client_id="by-hand", client_secret="${HAND_SECRET}", issuer=world.login.url
    )
    await user.api.put("/api/v1/settings/HAND_SECRET", json={"value": "given-by-hand"})
    agent = await agent_of(world.tenants, user, row)
    assert (await world.connect(user, f"mcp:{row}")).status_code == 200
    await world.until_listed(user, agent, "echo")
    assert not any(path.endswith("/register") for path, _ in world.login.asked)


async def test_one_registration_serves_everybody(world: World) -> None:
    """A client is registered once for a server, whoever logs in."""
    row = await world.row()
    for person in (world.tenants.user_a, world.tenants.admin_a):
        assert (await world.connect(person, f"mcp:{row}")).status_code == 200
    assert sum(1 for path, _ in world.login.asked if path.endswith("/register")) == 1


async def test_a_document_says_who_we_are(world: World, tmp_path: Path) -> None:
    """Where the server reads client documents and can reach ours: no registration at all."""
    world.login.metadata = {"client_id_metadata_document_supported": True}
    folder = tmp_path / "public"
    folder.mkdir()
    settings = Settings(
        data_dir=folder, egress_allow=("127.0.0.0/8",), public_url="https://crib.example.com/x"
    )
    async with open_crib(settings) as crib:
        public = World(crib, await make_tenants(crib), world.login, world.server)
        row = await public.row()
        begun = await public.begin(public.tenants.user_a, f"mcp:{row}")
        assert begun["url"].startswith("https://crib.example.com/x/oauth/login/")
        browser = await crib.client()
        query = parse_qs(urlsplit(await public.going(begun["url"], browser)).query)
        name = name_of(world.login.url)
        document = (await browser.get(f"/oauth/client/{name}")).json()
        assert query["client_id"] == [document["client_id"]]
        assert document["client_id"] == f"https://crib.example.com/x/oauth/client/{name}"
        assert query["redirect_uri"] == document["redirect_uris"]
        everybodys = (await browser.get("/oauth/client.json")).json()
        assert everybodys["client_id"] == "https://crib.example.com/x/oauth/client.json"
        assert document["redirect_uris"] == [f"{everybodys['redirect_uris'][0]}/{name}"]
    assert not any(path.endswith("/register") for path, _ in world.login.asked)


# --- nothing leaks --------------------------------------------------------------------------------


async def test_tokens_and_callers_stay_where_they_belong(
    world: World, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    """The caller's token reaches no upstream; an upstream's tokens neither people nor disk."""
    user = world.tenants.user_a
    row = await world.row()
    agent = await agent_of(world.tenants, user, row)

    async def tell(given: Any) -> Any:
        return text(f"you came with {world.server.tokens[-1]}")

    world.server.answers["echo"] = tell
    await world.connect(user, f"mcp:{row}")
    await world.until_listed(user, agent, "echo")
    told = await call(user, agent, "echo")
    assert told["text"] == "you came with ***"
    await age(world)
    world.login.expire()
    assert (await call(user, agent, "echo"))["text"] == "you came with ***"
    for grant in world.login.grants:
        grant.over = True
    await age(world)
    failed = await call(user, agent, "echo")
    assert not failed["success"]

    outside = "\n".join([*world.server.received, world.login.everything()])
    assert user.token not in outside
    issued = {
        word
        for grant in world.login.grants
        for word in {*grant.access, *grant.used, grant.refresh or "-" * 20}
    } | set(world.server.tokens)
    seen = [told, failed, await world.shown(user), (await user.api.get("/api/v1/calls")).json()]
    seen += [await tools_of(user, agent), (await user.api.get("/api/v1/mcp/servers")).json()]
    printed = capsys.readouterr()
    words = repr(seen) + caplog.text + printed.out + printed.err
    words += repr(world.crib.platform.logins.credentials.__dict__)
    database = world.crib.platform.settings.data_dir / "toolcrib.db"
    raw = database.read_bytes() + database.with_name("toolcrib.db-wal").read_bytes()
    assert len(issued) >= 3
    for secret in issued:
        assert secret not in words
        assert secret.encode() not in raw


async def test_a_login_survives_new_keys(world: World) -> None:
    """`toolcrib secrets rotate` seals logins too."""
    user = world.tenants.user_a
    row = await world.row()
    await world.connect(user, f"mcp:{row}")
    store = world.crib.platform.storage.logins
    before = dict(await store.sealed())
    assert len(before) == 2, "the login and the registered client"
    root = await world.crib.somebody(1)
    await world.crib.desk.settings.rotate(root.caller)
    after = dict(await store.sealed())
    assert before.keys() == after.keys()
    assert not set(before.values()) & set(after.values())
    agent = await agent_of(world.tenants, user, row)
    await world.until_listed(user, agent, "echo")


# --- other wires, packages, vendors ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "era"),
    [("mcp_streamable_http", "modern"), ("mcp_sse", "sse"), ("mcp_server", "plain")],
)
async def test_packages_of_every_wire(world: World, kind: str, era: Any) -> None:
    """Each with a login of the caller's own, and with its own way to carry the token."""
    user = world.tenants.user_a
    async with GuardedMcp(world.login, era) as server:
        await install(world, kind, server, auth=OAUTH)
        agent = await agent_of(world.tenants, world.tenants.admin_a, "installed__guarded_echo")
        missed = await call(user, agent, "guarded_echo")
        assert missed["error"]["code"] == "secret_missing", missed
        assert "not connected" in missed["error"]["message"]
        assert (await world.connect(user, "package:guarded_echo")).status_code == 200
        done = await call(user, agent, "guarded_echo")
        assert done["success"], done
        await age(world)
        world.login.expire()
        assert (await call(user, agent, "guarded_echo"))["success"]
        assert world.login.count("refresh_token") == 1
        stranger = await world.tenants.user_b.api.post(
            CONNECTIONS, json={"ref": "package:guarded_echo"}
        )
        assert problem_of(stranger)[0] == 404


async def test_a_package_with_client_credentials(world: World) -> None:
    """The installation's own login, by a secret of the vault; nobody connects."""
    user = world.tenants.user_a
    root = await world.crib.somebody(1)
    world.login.client("machine", secret="secret-of-the-vault")
    await root.api.put("/admin/secrets/MACHINE", json={"value": "secret-of-the-vault"})
    auth = {
        **OAUTH,
        "grant": "client_credentials",
        "client_id": "machine",
        "client_secret": "{{MACHINE}}",
        "issuer": world.login.url,
    }
    await install(world, "mcp_streamable_http", world.server, auth=auth)
    agent = await agent_of(world.tenants, world.tenants.admin_a, "installed__guarded_echo")
    for _ in range(2):
        assert (await call(user, agent, "guarded_echo"))["success"]
    assert world.login.count("client_credentials") == 1
    refused = await root.api.post(CONNECTIONS, json={"ref": "package:guarded_echo"})
    assert problem_of(refused)[0] == 422


async def install(world: World, kind: str, server: GuardedMcp, *, auth: Any) -> None:
    root = await world.crib.somebody(1)
    package = {
        "slug": "guarded_echo",
        "name": "Echo",
        "description": "Echoes.",
        "type": kind,
        "config": {
            "endpoint": server.url,
            "tool_name": "echo",
            "input_schema": {"type": "object", "properties": {}},
            "auth": auth,
        },
    }
    answer = await root.api.post("/admin/tools/install", json=package)
    assert answer.status_code == 201, answer.text


async def test_a_vendor_gets_the_callers_token(world: World) -> None:
    """Hosted: the model's vendor connects with the token, and learns nothing of the login."""
    user = world.tenants.user_a
    row = await world.row()
    config = {"configurable": {"logged_user_id": user.id, "group_id": world.tenants.a}}
    platform = world.crib.platform
    _, before = await get_tools_from_capabilities([row], config, platform=platform)
    assert list(before) == []
    await world.connect(user, f"mcp:{row}")
    _, [entry] = await get_tools_from_capabilities([row], config, platform=platform)
    assert dict(entry)["headers"]["Authorization"].startswith("Bearer access-")
    assert "auth" not in dict(entry)
    agent = await agent_of(world.tenants, user, row)
    await world.until_listed(user, agent, "echo")
    [shown] = (await tools_of(user, agent))["delegations"]
    assert shown["headers"] == {"Authorization": "***"}
    assert "auth" not in shown


WRONG_AUTH: dict[str, tuple[Any, str]] = {
    "no object": ("oauth2", ""),
    "no type": ({}, ".type"),
    "another type": ({"type": "basic"}, ".type"),
    "an unknown key": ({"type": "oauth2", "token": "x"}, ".token"),
    "another grant": ({"type": "oauth2", "grant": "password"}, ".grant"),
    "another owner": ({"type": "oauth2", "per": "world"}, ".per"),
    "scopes that are none": ({"type": "oauth2", "scopes": [1]}, ".scopes"),
    "an issuer that is no address": ({"type": "oauth2", "issuer": "login"}, ".issuer"),
    "a placeholder as issuer": ({"type": "oauth2", "issuer": "https://${X}/"}, ".issuer"),
    "a secret without an issuer": (
        {"type": "oauth2", "client_id": "a", "client_secret": "${S}"},
        ".issuer",
    ),
    "a secret without an id": (
        {"type": "oauth2", "client_secret": "${S}", "issuer": "https://a.example"},
        ".client_id",
    ),
    "proof without a secret": (
        {
            "type": "oauth2",
            "grant": "client_credentials",
            "client_id": "a",
            "issuer": "https://a.example",
        },
        ".client_secret",
    ),
}


@pytest.mark.parametrize("wrong", WRONG_AUTH)
async def test_what_is_wrong_names_its_place(world: World, wrong: str) -> None:
    """In capabilities and in packages alike."""
    auth, place = WRONG_AUTH[wrong]
    root = await world.crib.somebody(1)
    capability = {
        "name": "x",
        "code": "x",
        "type": "mcp",
        "access_type": "system",
        "options": {"server_label": "x", "server_url": world.server.url, "auth": auth},
    }
    answer = await root.api.post("/api/super-admin/capabilities", json=capability)
    assert problem_of(answer)[0] == 422
    assert problem_of(answer)[2] == f"options.auth{place}"
    package = {
        "slug": "x",
        "name": "x",
        "description": "x",
        "type": "mcp_streamable_http",
        "config": {"endpoint": world.server.url, "tool_name": "echo", "auth": auth},
    }
    answer = await root.api.post("/admin/tools/preview", json=package)
    if "${" not in repr(auth):  # the other language's placeholders are plain text in a package
        places = [error["where"] for error in answer.json()["errors"]]
        assert f"config.auth{place}" in places


# --- APIs -----------------------------------------------------------------------------------------


class GuardedApi:
    """An API that takes the authorization server's tokens, whatever they are for."""

    def __init__(self, trusts: Authorizing) -> None:
        self._trusts = trusts
        self.received: list[str] = []

    async def __aenter__(self) -> Self:
        app = web.Application()
        app.router.add_get("/mail/{box}", self._read)
        self._runner = web.AppRunner(app, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.place = f"127.0.0.1:{self._runner.addresses[0][1]}"
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._runner.cleanup()

    async def _read(self, request: web.Request) -> web.Response:
        sent = request.headers.get("Authorization", "")
        self.received.append(f"{request.url} {dict(request.headers)}")
        if not self._trusts.knows(sent.removeprefix("Bearer "), ""):
            return web.Response(status=401, text="who are you?")
        return web.json_response({"box": request.match_info["box"], "by": sent})


async def install_api(world: World, api: GuardedApi, **auth: Any) -> int:
    root = await world.crib.somebody(1)
    package: dict[str, Any] = {
        "slug": "read_mail",
        "name": "Read mail",
        "description": "Reads.",
        "type": "http",
        "config": {
            "url": f"http://{api.place}/mail/{{box}}",
            "auth": {**OAUTH, "issuer": world.login.url, **auth},
        },
        "input_schema": {"type": "object", "properties": {"box": {"type": "string"}}},
    }
    preview = (await root.api.post("/admin/tools/preview", json=package)).json()
    assert preview["errors"] == []
    answer = await root.api.post("/admin/tools/install", json=package)
    assert answer.status_code == 201, answer.text
    return await agent_of(world.tenants, world.tenants.admin_a, "installed__read_mail")


async def test_an_api_is_called_with_the_callers_login(world: World) -> None:
    """A person's login, renewed when it is refused; the token does not come back in the answer."""
    user = world.tenants.user_a
    world.login.needs_resource = False
    async with GuardedApi(world.login) as api:
        agent = await install_api(world, api)
        missed = await call(user, agent, "read_mail", box="in")
        assert missed["error"]["code"] == "secret_missing", missed
        assert api.received == []
        assert (await world.connect(user, "package:read_mail")).status_code == 200
        assert not any("resource" in form for _, form in world.login.asked)
        done = await call(user, agent, "read_mail", box="in")
        assert done["success"], done
        assert done["structured"]["body"] == {"box": "in", "by": "Bearer ***"}
        assert "access-" not in repr(done)
        await age(world)
        world.login.expire()
        assert (await call(user, agent, "read_mail", box="in"))["success"]
        assert world.login.count("refresh_token") == 1
        assert user.token not in "\n".join(api.received)
        other = await call(world.tenants.admin_a, agent, "read_mail", box="in")
        assert other["error"]["code"] == "secret_missing"


async def test_an_api_with_client_credentials(world: World) -> None:
    """One login of the installation for every caller."""
    root = await world.crib.somebody(1)
    world.login.client("machine", secret="secret-of-the-vault")
    await root.api.put("/admin/secrets/MACHINE", json={"value": "secret-of-the-vault"})
    async with GuardedApi(world.login) as api:
        agent = await install_api(
            world,
            api,
            grant="client_credentials",
            client_id="machine",
            client_secret="{{MACHINE}}",
        )
        for person in (world.tenants.user_a, world.tenants.admin_a):
            assert (await call(person, agent, "read_mail", box="in"))["success"]
        assert world.login.count("client_credentials") == 1


@pytest.mark.parametrize(
    ("config", "where"),
    [
        ({"auth": OAUTH}, "config.auth.issuer"),
        ({"url": "https://{box}.example/", "auth": OAUTH}, "config.url"),
        ({"headers": {"authorization": "x"}, "auth": OAUTH}, "config.headers.authorization"),
        ({"auth": "oauth2"}, "config.auth"),
    ],
)
async def test_what_is_wrong_with_an_apis_login(
    world: World, config: dict[str, Any], where: str
) -> None:
    """Each with its place."""
    root = await world.crib.somebody(1)
    package = {
        "slug": "x",
        "name": "x",
        "description": "x",
        "type": "http",
        "config": {"url": "https://api.example/{box}", **config},
        "input_schema": {"type": "object", "properties": {"box": {"type": "string"}}},
    }
    preview = (await root.api.post("/admin/tools/preview", json=package)).json()
    assert where in [error["where"] for error in preview["errors"]]
