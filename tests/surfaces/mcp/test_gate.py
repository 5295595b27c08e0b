"""Who comes in, where, and what is refused at the door."""

from __future__ import annotations

import json

import pytest

from tests.surfaces.mcp.conftest import Door
from tests.surfaces.mcp.requests import BOTH, MODERN, message, meta, modern, open_session
from toolcrib.surfaces.mcp.body import MAX_BODY


async def greeting(door: Door) -> int:
    return (await door.tenants.agent(door.tenants.admin_a, door.tenants.a, "greet")).id


async def test_without_a_token_nobody_comes_in(door: Door) -> None:
    agent = await greeting(door)
    async with door.http(door.tenants.user_a) as http:
        answer = await http.post(door.place(agent), json={}, headers={"Authorization": "Bearer x"})
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"].startswith("Bearer")


async def test_both_schemes_and_both_spellings_of_the_path(door: Door) -> None:
    """`Bearer` and `Token`, with and without a slash at the end: no redirect, the same answer."""
    agent, user = await greeting(door), door.tenants.user_a
    found = []
    async with door.http(user) as http:
        for scheme in ("Bearer", "Token"):
            for url in (door.place(agent), f"{door.place(agent)}/"):
                told = {"Authorization": f"{scheme} {user.token}"}
                answer = await modern(http, url, "tools/list", {}, **told)
                names = [tool["name"] for tool in answer.json()["result"]["tools"]]
                found.append((answer.status_code, names))
    assert found == [(200, ["hello"])] * 4


async def test_the_agent_of_the_token(door: Door) -> None:
    """/mcp is the agent that the token belongs to, and for other tokens it names the agents."""
    agent = await greeting(door)
    bound = await door.crib.somebody(door.tenants.user_a.id, agent_id=agent)
    async with door.http(bound) as http:
        for path in ("/mcp", "/mcp/"):
            answer = await modern(http, door.url + path, "tools/call", {"name": "hello"})
            assert answer.status_code == 200
    async with door.http(door.tenants.user_a) as http:
        answer = await modern(http, f"{door.url}/mcp", "tools/list", {})
    error = answer.json()["error"]
    assert answer.status_code == 404
    assert [row["path"] for row in error["data"]["agents"]] == [f"/mcp/agents/{agent}"]
    assert f"/mcp/agents/{agent}" in error["message"]


@pytest.mark.parametrize(
    "spelling",
    [
        "0{}",
        "+{}",
        "-{}",
        "{}.",
        "{}.0",
        "{}e0",
        "0x{}",
        "%20{}",
        "{}%20",
        "{}%0a",
        "{}%00",
        "{};x",
        "/{}",
        "{}//",
        "{}%2f%2f",
        "%EF%BC%91",
        "%D9%A1",
        "99999999999999999999",
        "9999999999999999999",
    ],
)
async def test_an_agent_has_one_address(door: Door, spelling: str) -> None:
    """What only reads as its number is no agent's."""
    agent = await greeting(door)
    async with door.http(door.tenants.user_a) as http:
        url = f"{door.url}/mcp/agents/{spelling.format(agent)}"
        answer = await modern(http, url, "tools/list", {})
    assert answer.status_code == 404


@pytest.mark.parametrize("spelling", ["agents/%3{}", "%61gents/{}", "agents%2f{}", "agents/{}%2f"])
async def test_an_escaped_letter_is_the_letter(door: Door, spelling: str) -> None:
    agent = await greeting(door)
    assert agent < 10
    async with door.http(door.tenants.user_a) as http:
        url = f"{door.url}/mcp/{spelling.format(agent)}"
        answer = await modern(http, url, "tools/call", {"name": "hello"})
        refused = await http.post(url, json={}, headers={"Authorization": ""})
    assert (answer.status_code, refused.status_code) == (200, 401)


async def test_an_agent_out_of_reach_does_not_exist(door: Door) -> None:
    """Neither another group's, nor one that is not there, nor another than the token's."""
    agent = await greeting(door)
    other = (await door.tenants.agent(door.tenants.user_a, door.tenants.a, "greet")).id
    bound = await door.crib.somebody(door.tenants.user_a.id, agent_id=agent)
    statuses = []
    for person, place in ((door.tenants.user_b, agent), (bound, other), (bound, 999_999)):
        async with door.http(person) as http:
            answer = await modern(http, door.place(place), "tools/call", {"name": "hello"})
            statuses.append((answer.status_code, answer.json()["error"]["data"]["code"]))
    assert statuses == [(404, "not_found")] * 3


async def test_foreign_pages_and_names_are_refused(door: Door) -> None:
    """DNS rebinding: only this server's own names, and pages of its own origin."""
    agent = await greeting(door)
    async with door.http(door.tenants.user_a) as http:
        rebound = await modern(http, door.place(agent), "tools/list", {}, Host="evil.example")
        foreign = await modern(
            http, door.place(agent), "tools/list", {}, Origin="https://evil.example"
        )
        own = await modern(http, door.place(agent), "tools/list", {}, Origin=door.url)
    assert (rebound.status_code, foreign.status_code, own.status_code) == (421, 403, 200)


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (b"{", 400, -32700),
        (b'{"jsonrpc": "2.0", "id": NaN, "method": "ping"}', 400, -32700),
        (b'{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}', 400, -32700),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping"} x', 400, -32700),
        (b"\xff", 400, -32700),
        (b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', 400, -32600),
        (b'{"jsonrpc":"2.0","id":1,"result":{}}', 400, -32600),
        (b'{"x":"' + b"y" * MAX_BODY + b'"}', 413, -32600),
    ],
)
async def test_bodies_are_read_strictly(door: Door, body: bytes, status: int, code: int) -> None:
    """JSON without tricks, one message, of a bounded size."""
    agent = await greeting(door)
    headers = {"Accept": BOTH, "Content-Type": "application/json", "MCP-Protocol-Version": MODERN}
    async with door.http(door.tenants.user_a) as http:
        answer = await http.post(door.place(agent), content=body, headers=headers)
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)


@pytest.mark.parametrize(
    ("headers", "code"),
    [
        ({"Mcp_Method": "tools/list"}, -32020),
        ({"Mcp_Name": "add_note"}, -32020),
        ({"MCP_Protocol_Version": "2027-01-01"}, -32020),
    ],
)
async def test_headers_have_to_agree_with_the_body(
    door: Door, headers: dict[str, str], code: int
) -> None:
    """What a proxy routes by is what is done."""
    agent = await greeting(door)
    async with door.http(door.tenants.user_a) as http:
        params = {"name": "hello", "arguments": {"name": "Ada"}}
        answer = await modern(http, door.place(agent), "tools/call", params, **headers)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, code)


async def test_a_name_may_be_encoded_in_its_header(door: Door) -> None:
    agent = await greeting(door)
    async with door.http(door.tenants.user_a) as http:
        params = {"name": "hello", "arguments": {"name": "Ada"}}
        answer = await modern(
            http, door.place(agent), "tools/call", params, Mcp_Name="=?base64?aGVsbG8=?="
        )
    assert answer.json()["result"]["content"] == [{"type": "text", "text": "hello Ada"}]


async def test_what_is_not_offered_is_neither_advertised_nor_served(door: Door) -> None:
    """Prompts, resources and completion."""
    agent = await greeting(door)
    async with door.http(door.tenants.user_a) as http:
        found = await modern(http, door.place(agent), "server/discover", {})
        asked = {
            method: (await modern(http, door.place(agent), method, {})).status_code
            for method in ("prompts/list", "resources/list", "resources/templates/list")
        }
    result = found.json()["result"]
    assert result["capabilities"] == {"tools": {"listChanged": True}, "logging": {}}
    assert MODERN in result["supportedVersions"]
    assert asked == dict.fromkeys(asked, 404)


async def test_the_newer_era_has_no_streams_to_open(door: Door) -> None:
    agent = await greeting(door)
    headers = {"Accept": BOTH, "MCP-Protocol-Version": MODERN}
    async with door.http(door.tenants.user_a) as http:
        answer = await http.get(door.place(agent), headers=headers)
    assert answer.status_code == 405


async def test_a_session_is_its_users_at_its_agent(door: Door) -> None:
    """To anybody else, and at another agent, it does not exist; ended, it is gone for all."""
    agent = await greeting(door)
    other = (await door.tenants.agent(door.tenants.user_a, door.tenants.a, "greet")).id
    admin = door.tenants.admin_a
    call = message("tools/call", {"name": "hello", "arguments": {"name": "Ada"}})
    async with door.http(door.tenants.user_a) as mine, door.http(admin) as theirs:
        headers = await open_session(mine, door.place(agent))
        statuses = [
            (await http.post(door.place(place), json=call, headers=headers)).status_code
            for http, place in ((mine, agent), (theirs, agent), (mine, other), (theirs, other))
        ]
        foreign_end = await theirs.delete(door.place(agent), headers=headers)
        still = await mine.post(door.place(agent), json=call, headers=headers)
        ended = await mine.delete(door.place(agent), headers=headers)
        gone = await mine.post(door.place(agent), json=call, headers=headers)
    assert statuses == [200, 404, 404, 404]
    assert (foreign_end.status_code, still.status_code) == (404, 200)
    assert (ended.status_code, gone.status_code) == (200, 404)


async def test_a_session_ends_with_its_users_grant(door: Door) -> None:
    """A call is decided anew each time, whatever was listed before."""
    agent = await greeting(door)
    call = message("tools/call", {"name": "hello", "arguments": {"name": "Ada"}})
    async with door.http(door.tenants.user_a) as http:
        headers = await open_session(http, door.place(agent))
        before = await http.post(door.place(agent), json=call, headers=headers)
        desk, admin = door.crib.desk, door.tenants.admin_a
        await desk.agents.set_capabilities(admin.caller, agent, [])
        after = await http.post(door.place(agent), json=call, headers=headers)
        rows = await desk.tokens.list(door.crib.operator, user_id=door.tenants.user_a.id)
        for row in rows:
            await desk.tokens.revoke(
                door.crib.operator, user_id=door.tenants.user_a.id, token_id=row.id
            )
        revoked = await http.post(door.place(agent), json=call, headers=headers)
    assert before.status_code == 200
    assert "hello Ada" in before.text
    assert "Unknown tool" in after.text
    assert revoked.status_code == 401


async def test_odd_numbers_and_ids_come_back_as_they_were(door: Door) -> None:
    """A long number is not rounded, and an id keeps its type."""
    agent = (await door.tenants.agent(door.tenants.admin_a, door.tenants.a, "greet")).id
    answers = []
    async with door.http(door.tenants.user_a) as http:
        for number in ("7", 7, "Ünïcode"):
            body = message("tools/list", {"_meta": meta()}, number=number)
            headers = {"Accept": BOTH, "MCP-Protocol-Version": MODERN, "Mcp-Method": "tools/list"}
            answer = await http.post(door.place(agent), json=body, headers=headers)
            answers.append(json.loads(answer.text)["id"])
    assert answers == ["7", 7, "Ünïcode"]


@pytest.mark.parametrize("blank", ["", " ", "\t", "\r\n", "   \n\t"])
@pytest.mark.parametrize("key", ['"name"', '"n\\u0061me"'])
async def test_a_key_that_comes_twice_is_refused(door: Door, blank: str, key: str) -> None:
    """However it is written: whoever looked at the first one looked at another call."""
    agent = await greeting(door)
    said = json.dumps(meta())
    body = (
        '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":'
        f'{{"name":"other",{key}{blank}:"hello","_meta":{said}}}}}'
    )
    told = {"Accept": BOTH, "MCP-Protocol-Version": MODERN, "Mcp-Method": "tools/call"}
    told |= {"Mcp-Name": "hello", "Content-Type": "application/json"}
    async with door.http(door.tenants.user_a) as http:
        answer = await http.post(door.place(agent), content=body, headers=told)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, -32700)
