"""One user's sessions leave room for the others'."""

from __future__ import annotations

import httpx2

from tests.support.listening import listening
from tests.support.tenants import Tenants
from tests.surfaces.mcp.conftest import Door
from tests.surfaces.mcp.requests import BOTH, OLDER, message, open_session
from toolcrib.surfaces.mcp.gateway import Gateway

HELLO = {
    "protocolVersion": OLDER,
    "capabilities": {},
    "clientInfo": {"name": "hand", "version": "1"},
}


async def knock(http: httpx2.AsyncClient, url: str) -> int:
    body = message("initialize", HELLO)
    return (await http.post(url, json=body, headers={"Accept": BOTH})).status_code


async def test_nobody_shuts_the_others_out(tenants: Tenants) -> None:
    """At whichever agents they are; a session that ends makes room, and the others go on."""
    app = tenants.crib.app
    app.state.gateway = Gateway(tenants.crib.platform, most_of_one=4)
    first = (await tenants.agent(tenants.admin_a, tenants.a, "greet")).id
    second = (await tenants.agent(tenants.user_a, tenants.a, "greet")).id
    async with listening(app) as url:
        door = Door(crib=tenants.crib, tenants=tenants, url=url)
        one, other = door.place(first), door.place(second)
        async with door.http(tenants.user_a) as greedy, door.http(tenants.admin_a) as modest:
            opened = [await open_session(greedy, place) for place in (one, other) * 2]
            assert [await knock(greedy, one), await knock(greedy, other)] == [503, 503]
            assert await knock(modest, one) == 200
            listed = await greedy.post(one, json=message("tools/list"), headers=opened[0])
            assert listed.status_code == 200
            assert (await greedy.delete(other, headers=opened[1])).status_code == 200
            assert [await knock(greedy, one), await knock(greedy, one)] == [200, 503]
