"""The catalogue over REST, in Kortix's shape."""

from __future__ import annotations

from tests.support.crib import Crib, problem_of


async def test_the_list(crib: Crib) -> None:
    """What people's lists show, by weight, for everybody with a token."""
    ada = await crib.person("ada", "user")
    answer = await ada.api.get("/tools")
    assert answer.json()["success"] is True
    tools = answer.json()["tools"]
    names = [one["name"] for one in tools]
    assert names.index("message_tool") < names.index("web_search_tool")
    assert "developer_tool" not in names
    found = tools[names.index("message_tool")]
    assert (found["display_name"], found["is_core"], found["tool_class"]) == (
        "Messages",
        True,
        "MessageTool",
    )
    assert [method["name"] for method in found["methods"]] == ["ask", "complete", "wait"]
    assert "usage_guide" not in found
    assert (await (await crib.client()).get("/tools")).status_code == 401


async def test_one_of_them(crib: Crib) -> None:
    """With its guide, visible or not; what is not installed is 404."""
    ada = await crib.person("ada", "user")
    tool = (await ada.api.get("/tools/developer_tool")).json()["tool"]
    assert (tool["visible"], tool["usage_guide"].startswith("`wait_seconds`")) == (False, True)
    for name in ("sb_spreadsheet_tool", "no_such_tool"):
        assert problem_of(await ada.api.get(f"/tools/{name}"))[:2] == (404, "not_found")
