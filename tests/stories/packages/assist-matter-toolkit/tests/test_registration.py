"""The toolkit's own tests, as a plugin author writes them."""

import asyncio

from assist_matter_toolkit import register
from assist_matter_toolkit.matters import search_matters


def registrations(*context):
    calls = []
    register(lambda code, tools, **said: calls.append((code, tools, said)), *context)
    return calls


def test_every_first_registration_carries_a_name():
    """And there are tools behind each code."""
    seen = set()
    for code, tools, said in registrations():
        assert tools
        assert code in seen or said.get("name")
        seen.add(code)
    assert seen == {"matter_desk", "matter_search"}


def test_a_tool_answers_without_a_host():
    """With the fixed settings."""
    config = {"configurable": {"logged_user_id": 1, "group_id": 1, "chat_id": 1}}
    answer = asyncio.run(search_matters.ainvoke({"query": "brook", "limit": 1}, config=config))
    assert answer == "from https://office.example\n101 Mill v. Brook"
