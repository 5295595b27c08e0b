"""Tools from capabilities without a platform: the default registry, and settings of the config."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import tool

from toolcrib.catalog.capabilities import Capability
from toolcrib.errors import InvalidRequest
from toolcrib.langchain import get_tools_from_capabilities
from toolcrib.platform import bare, current_platform
from toolcrib.plugin.registration import Registry
from toolcrib.surfaces.langchain import tools as entrance
from toolcrib.surfaces.langchain.bare import BareCrib


@tool
async def look(word: str, config: RunnableConfig) -> str:
    """Look at who calls."""
    values = config["configurable"]
    return f"{word}: {values['logged_user_id']} {values['group_id']} {values['chat_id']}"


@tool("look")
async def other_look(word: str) -> str:
    """Another tool of the same name."""
    return word


@tool
async def wait_seconds() -> str:
    """Only for developers."""
    return "waited"


@tool
async def long_answer() -> str:
    """Answers more than a model can use."""
    return "x" * 400_000


CONFIG: dict[str, Any] = {"configurable": {"logged_user_id": 7, "group_id": 3, "chat_id": 9}}


@pytest.fixture(autouse=True)
def registry(monkeypatch: pytest.MonkeyPatch) -> Registry:
    """A process with these registrations and no open platform."""
    made = Registry()
    made.register_tools("looking", [look], name="Looking")
    made.register_tools("again", [other_look])
    made.register_tools("base_dev", [wait_seconds])
    made.register_tools("base", [])
    made.register_tools("web_search_google_serper", [long_answer])
    monkeypatch.setattr(entrance, "_bare", lambda: BareCrib(bare(made), made))
    assert current_platform() is None
    return made


async def names(capabilities: list[Any], config: Any = CONFIG) -> list[str]:
    return [one.name for one in (await get_tools_from_capabilities(capabilities, config))[0]]


ROW = {"name": "Looking", "code": "looking", "type": "internal", "options": None}


@pytest.mark.parametrize(
    "capability",
    [
        ROW,
        {**ROW, "id": 5},
        {"code": "looking"},
        "looking",
        Capability(id=5, name="Looking", code="looking"),
        SimpleNamespace(id=5, name="Looking", code="looking", type="internal", options=None),
        {**ROW, "access_type": "group", "group_id": 99},
    ],
    ids=["dict", "dict with id", "short dict", "code", "row", "somebody's row", "group's"],
)
async def test_every_form_of_a_capability(capability: Any):
    """Rows, dicts and codes mean the same; without a database nothing is decided."""
    assert await names([capability]) == ["look"]


async def test_comma_separated_codes():
    """One row may activate several groups."""
    assert await names([{"code": "looking, base_dev"}], dev()) == ["look", "wait_seconds"]


def dev() -> dict[str, Any]:
    return {"configurable": {"context": {"environment": "development"}}}


async def test_call_reaches_the_tool_with_user_group_and_chat():
    """The tool reads who calls from the config that the call brings."""
    (one,), configs = await get_tools_from_capabilities(["looking"], CONFIG)
    assert await one.ainvoke({"word": "me"}, CONFIG) == "me: 7 3 9"
    assert configs == []


async def test_the_config_of_making_counts_when_the_call_brings_none():
    """Tools that were made for a user are that user's."""
    (one,), _ = await get_tools_from_capabilities(["looking"], CONFIG)
    assert await one.ainvoke({"word": "me"}) == "me: 7 3 9"


async def test_a_call_for_another_user_takes_nothing_of_the_first():
    """Group and chat of one user never go along with another one's call."""
    (one,), _ = await get_tools_from_capabilities(["looking"], CONFIG)
    answer = await one.ainvoke({"word": "me"}, {"configurable": {"logged_user_id": 8}})
    assert answer == "me: 8 None None"


@pytest.mark.parametrize("config", [None, {}, {"configurable": {}}])
async def test_without_any_config(config: Any):
    """Tools can be had without saying who asks; the user is then nobody, 0."""
    (one,), _ = await get_tools_from_capabilities(["looking"], config)
    assert await one.ainvoke({"word": "me"}) == "me: 0 None None"


async def test_conditions_choose(caplog: pytest.LogCaptureFixture):
    """Runtime conditions read the config's context; what they drop is logged with a fix."""
    assert await names(["base_dev"]) == []
    assert "only offered in the development environment" in caplog.text
    assert await names(["base"], dev()) == ["wait_seconds"]


async def test_conditions_read_settings():
    """A condition that needs a setting finds it in the config."""
    config = {"configurable": {"settings": {"SERPER_API_KEY": "key"}}}
    assert await names(["web_search_google_serper"]) == []
    assert await names(["web_search_google_serper"], config) == ["long_answer"]


async def test_first_of_a_name_wins(caplog: pytest.LogCaptureFixture):
    """Two tools of one name: the first by ordering stays, the other is logged with both."""
    rows = [{"code": "again", "ordering": 2}, {"code": "looking", "ordering": 1}]
    (one,), _ = await get_tools_from_capabilities(rows, CONFIG)
    assert one.description == "Look at who calls."
    assert "native:again/look" in caplog.text
    assert "native:looking/look" in caplog.text


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        ({"code": "nobody"}, "no loaded plugin registers the code 'nobody'"),
        ({"code": "looking", "archived": True}, "archived"),
        ({"code": "weather", "type": "api", "options": {}}, "type 'api'"),
        ({"code": "looking", "type": "sandbox"}, "'sandbox' is no type of a capability"),
        ({"type": "internal"}, "it has no code"),
        (None, "NoneType is no capability"),
        (17, "no platform is open here"),
        ({"code": "x", "options": "text"}, "The options cannot be str"),
        ({"code": "x", "ordering": "3"}, "The ordering cannot be str"),
        ({"code": "x", "id": "5"}, "The id cannot be str"),
        ({"code": " , "}, "The code is empty"),
        ({"code": "x", "access_type": "everybody"}, "'everybody' is no access_type"),
    ],
)
async def test_one_bad_capability_is_skipped(bad: Any, said: str, caplog: pytest.LogCaptureFixture):
    """It is logged with its reason, and the agent gets the rest."""
    assert await names([bad, "looking"]) == ["look"]
    assert said in caplog.text


async def test_long_answers_are_cut():
    """The result's limit holds here too."""
    config = {"configurable": {"settings": {"SERPER_API_KEY": "key"}}}
    (one,), _ = await get_tools_from_capabilities(["web_search_google_serper"], config)
    answer = await one.ainvoke({})
    assert len(answer) < 300_000
    assert answer.endswith("bytes in all, 262144 shown]")


async def test_registration_after_the_tools_were_made(registry: Registry):
    """A tool that is registered later is found by the next request for tools."""
    assert await names(["later"]) == []
    registry.register_tools("later", [wait_seconds])
    assert await names(["later"]) == ["wait_seconds"]


@pytest.mark.parametrize("key", ["logged_user_id", "group_id", "chat_id", "context", "settings"])
async def test_unusable_config(key: str):
    """A value of the wrong kind names its place."""
    with pytest.raises(InvalidRequest) as caught:
        await get_tools_from_capabilities([], {"configurable": {key: "seven"}})
    assert caught.value.where == f"configurable.{key}"


MCP = {
    "name": "Wiki",
    "code": "wiki",
    "type": "mcp",
    "options": {
        "server_label": "wiki",
        "server_url": "https://wiki.test/mcp",
        "headers": {"Authorization": "Bearer ${WIKI_TOKEN}"},
    },
}


async def test_servers_are_handed_out_filled():
    """A row of type mcp becomes a config with the settings in it."""
    config = {"configurable": {"settings": {"WIKI_TOKEN": "t0ken"}}}
    tools, configs = await get_tools_from_capabilities([MCP, "looking"], config)
    assert [one.name for one in tools] == ["look"]
    assert configs == [
        {
            "type": "mcp",
            "server_label": "wiki",
            "server_url": "https://wiki.test/mcp",
            "headers": {"Authorization": "Bearer t0ken"},
        }
    ]


async def test_server_without_its_setting(caplog: pytest.LogCaptureFixture):
    """It is skipped, and the log names the setting."""
    tools, configs = await get_tools_from_capabilities([MCP, "looking"], CONFIG)
    assert ([one.name for one in tools], configs) == (["look"], [])
    assert "WIKI_TOKEN" in caplog.text
    assert "could not be resolved" in caplog.text


async def test_order_of_rows_without_an_id():
    """Rows that no database has come in the order they are given."""
    assert [one.description for one in await described(["again", "looking"])] == [
        "Another tool of the same name."
    ]
    assert [one.description for one in await described([{"code": "looking"}, "again"])] == [
        "Look at who calls."
    ]


async def described(capabilities: list[Any]) -> list[Any]:
    return (await get_tools_from_capabilities(capabilities, CONFIG))[0]
