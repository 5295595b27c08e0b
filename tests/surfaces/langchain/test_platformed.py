"""Tools from capabilities of a platform: its users, its grants, its journal."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import tool

from toolcrib.catalog.capabilities import Capability, CapabilityDraft
from toolcrib.errors import GroupRequired, InvalidRequest, NotFound, NotGranted, SetupError
from toolcrib.identity.roles import Role
from toolcrib.invocation.journal import CallFilter, CallRecord
from toolcrib.langchain import get_tools_from_capabilities
from toolcrib.platform import current_platform
from toolcrib.secrets.settings import SettingOwner
from toolcrib.surfaces.langchain import platformed
from toolcrib.testing import RecordingUpstream, Workbench, workbench
from toolcrib.testing.replies import answer


@tool
async def look(word: str, config: RunnableConfig) -> str:
    """Look at who calls."""
    values = config["configurable"]
    if word == "boom":
        raise ValueError("no")
    return f"{word}: {values['logged_user_id']} {values['group_id']} {values['chat_id']}"


@tool
async def draw() -> str:
    """Draw on a page."""
    return "drawn"


def register(registry_fn: Callable[..., None]) -> None:
    registry_fn("looking", [look], name="Looking")
    registry_fn("canvas_toolkit", [draw], name="Canvas")


@pytest.fixture
async def bench(data_dir: Path) -> AsyncIterator[Workbench]:
    """One platform with one group, one user, the plugin above and a chat on an HTML page."""
    async with workbench(register, data_dir=data_dir, context={"page_type": "html"}) as made:
        yield made


async def row(bench: Workbench, code: str = "looking") -> Capability:
    rows = await bench.platform.storage.capabilities.find_many(bench.agent.capability_ids)
    return next(one for one in rows if one.code == code)


async def records(bench: Workbench) -> list[CallRecord]:
    journal = bench.platform.storage.journal
    await journal.flush()
    return list(await journal.list(CallFilter(everything=True)))


async def another_user(bench: Workbench, **given: Any) -> int:
    groups = given.pop("group_ids", frozenset())
    user = await bench.platform.storage.users.create(
        name="other", role=Role.USER, group_ids=groups, entitlements=frozenset(), **given
    )
    await bench.platform.storage.signals.bump("identity")
    return user.id


async def names(capabilities: list[Any], config: Any) -> list[str]:
    return [one.name for one in (await get_tools_from_capabilities(capabilities, config))[0]]


def test_no_platform_is_open_at_first():
    """The process's platform is the one that is open."""
    assert current_platform() is None


async def test_open_platform_is_found(bench: Workbench):
    """Without `platform` the open one answers, and the call is in its journal."""
    assert current_platform() is bench.platform
    (one,), _ = await get_tools_from_capabilities([await row(bench)], bench.config)
    answer = await one.ainvoke({"word": "me"}, bench.config)
    assert answer == f"me: {bench.user.id} {bench.group.id} {bench.chat.id}"
    (record,) = await records(bench)
    assert (record.tool, record.ref, record.success) == ("look", "native:looking/look", True)
    assert (record.user_id, record.group_id, record.chat_id) == (
        bench.user.id,
        bench.group.id,
        bench.chat.id,
    )
    assert record.surface == "langchain"


@pytest.mark.parametrize("form", ["row", "id", "code", "dict", "stored dict"])
async def test_every_form_of_a_capability(bench: Workbench, form: str):
    """Rows, ids, codes and dicts mean the same."""
    stored = await row(bench)
    forms = {
        "row": stored,
        "id": stored.id,
        "code": "looking",
        "dict": {"code": "looking", "type": "internal"},
        "stored dict": {"id": stored.id, "code": "looking", "type": "internal"},
    }
    assert await names([forms[form]], bench.config) == ["look"]


async def test_same_row_twice(bench: Workbench):
    """A row that is given in two forms counts once."""
    assert await names([await row(bench), "looking"], bench.config) == ["look"]


async def test_failure_is_recorded(bench: Workbench):
    """The journal has the error, the model the text."""
    (one,), _ = await get_tools_from_capabilities(["looking"], bench.config)
    call = {"type": "tool_call", "id": "1", "name": "look", "args": {"word": "boom"}}
    message = await one.ainvoke(call, bench.config)
    assert (message.status, message.content) == ("error", "look failed: ValueError: no")
    (record,) = await records(bench)
    assert record.success is False
    assert message.artifact["call_id"] == record.call_id


@pytest.mark.parametrize("capability", ["nothing", 4711, {"id": 4711, "code": "looking"}])
async def test_unknown_capability(
    bench: Workbench, capability: Any, caplog: pytest.LogCaptureFixture
):
    """What the platform does not have is logged and skipped."""
    assert await names([capability, "looking"], bench.config) == ["look"]
    assert "capability skipped" in caplog.text


async def test_row_of_another_group(bench: Workbench, caplog: pytest.LogCaptureFixture):
    """A row that the user may not use is a skip with the rule that decided."""
    storage = bench.platform.storage
    group = await storage.groups.create(name="elsewhere")
    foreign = await storage.capabilities.create(
        CapabilityDraft(name="L", code="looking", access_type="group", group_id=group.id)
    )
    assert await names([foreign], bench.config) == []
    assert f"it belongs to group {group.id}" in caplog.text
    unstored = {"code": "looking", "access_type": "private", "owner_id": bench.user.id + 1}
    assert await names([unstored], bench.config) == []


async def test_revoked_between_two_calls(bench: Workbench):
    """A tool that was taken away answers so; nothing runs."""
    stored = await row(bench)
    (one,), _ = await get_tools_from_capabilities([stored], bench.config)
    assert await one.ainvoke({"word": "a"}, bench.config)
    await bench.platform.storage.capabilities.update(stored.id, {"archived": True})
    await bench.platform.storage.signals.bump("catalog")
    call = {"type": "tool_call", "id": "1", "name": "look", "args": {"word": "b"}}
    message = await one.ainvoke(call, bench.config)
    assert message.status == "error"
    assert "'look' is not yours to call any more: the capability is archived" in message.content
    assert message.artifact["error"]["code"] == "not_granted"
    assert len(await records(bench)) == 1


async def test_user_who_left_the_group(bench: Workbench):
    """Membership is asked again at every call."""
    (one,), _ = await get_tools_from_capabilities(["looking"], bench.config)
    await bench.platform.storage.users.update(bench.user.id, group_ids=frozenset())
    await bench.platform.storage.signals.bump("identity")
    call = {"type": "tool_call", "id": "1", "name": "look", "args": {"word": "b"}}
    assert (await one.ainvoke(call, bench.config)).status == "error"
    assert await records(bench) == []


async def test_call_of_another_user(bench: Workbench):
    """Tools that were made for one user ask again when another one's run calls them."""
    stranger = await another_user(bench)
    (one,), _ = await get_tools_from_capabilities(["looking"], bench.config)
    call = {"type": "tool_call", "id": "1", "name": "look", "args": {"word": "b"}}
    message = await one.ainvoke(call, {"configurable": {"logged_user_id": stranger}})
    assert message.status == "error"
    assert await records(bench) == []


async def test_conditions_of_the_chat(bench: Workbench, caplog: pytest.LogCaptureFixture):
    """The chat's context decides; without a chat the config's."""
    assert await names(["canvas_toolkit"], bench.config) == ["draw"]
    outside = {"configurable": {"logged_user_id": bench.user.id}}
    assert await names(["canvas_toolkit"], outside) == []
    assert "page type is 'text'" in caplog.text
    outside["configurable"]["context"] = {"page_type": "react"}
    assert await names(["canvas_toolkit"], outside) == ["draw"]


async def test_group_is_the_only_one(bench: Workbench):
    """A user of one group need not name it; a user of several must."""
    (one,), _ = await get_tools_from_capabilities(
        ["looking"], {"configurable": {"logged_user_id": bench.user.id}}
    )
    assert await one.ainvoke({"word": "me"}) == f"me: {bench.user.id} {bench.group.id} None"
    second = await bench.platform.storage.groups.create(name="second")
    both = await another_user(bench, group_ids=frozenset({bench.group.id, second.id}))
    with pytest.raises(GroupRequired):
        await names(["looking"], {"configurable": {"logged_user_id": both}})


@pytest.mark.parametrize(
    ("changes", "error", "where"),
    [
        ({"logged_user_id": None}, InvalidRequest, "configurable.logged_user_id"),
        ({"logged_user_id": 4711}, NotFound, None),
        ({"group_id": 4711}, NotGranted, "configurable.group_id"),
        ({"chat_id": 4711}, NotFound, None),
        ({"chat_uuid": "another"}, InvalidRequest, "configurable.chat_uuid"),
    ],
)
async def test_who_cannot_be(
    bench: Workbench, changes: dict[str, Any], error: type[Exception], where: str | None
):
    """A user, group or chat that is not there, or not the user's, is an error of the config."""
    config = {"configurable": {**bench.config["configurable"], **changes}}
    with pytest.raises(error) as caught:
        await get_tools_from_capabilities(["looking"], config)
    assert getattr(caught.value, "where", None) == where


async def test_chat_of_somebody_else(bench: Workbench):
    """Another user's chat is as good as none."""
    other = await another_user(bench, group_ids=frozenset({bench.group.id}))
    config = {"configurable": {"logged_user_id": other, "chat_id": bench.chat.id}}
    with pytest.raises(NotFound):
        await get_tools_from_capabilities(["looking"], config)


MCP: dict[str, Any] = {
    "code": "wiki",
    "type": "mcp",
    "options": {"server_label": "wiki", "server_url": "https://${WIKI_HOST}/mcp"},
}


async def test_server_with_the_users_setting(bench: Workbench):
    """The user's value wins over the group's."""
    values = bench.platform.values
    await values.put("WIKI_HOST", "group.test", SettingOwner(group_id=bench.group.id))
    _, (first,) = await get_tools_from_capabilities([MCP], bench.config)
    await values.put("WIKI_HOST", "user.test", SettingOwner(user_id=bench.user.id))
    _, (second,) = await get_tools_from_capabilities([MCP], bench.config)
    assert [first["server_url"], second["server_url"]] == [
        "https://group.test/mcp",
        "https://user.test/mcp",
    ]


async def test_server_without_setting_or_grant(bench: Workbench, caplog: pytest.LogCaptureFixture):
    """One missing value skips that server; a row that is not granted is never filled."""
    refused = {**MCP, "code": "hers", "access_type": "private", "owner_id": bench.user.id + 1}
    tools, configs = await get_tools_from_capabilities([MCP, refused, "looking"], bench.config)
    assert ([one.name for one in tools], configs) == (["look"], [])
    assert "WIKI_HOST" in caplog.text
    assert "private to its owner" in caplog.text


async def test_threads_call_into_the_platforms_loop(bench: Workbench):
    """A synchronous call from a thread runs where the platform lives."""
    (one,), _ = await get_tools_from_capabilities(["looking"], bench.config)
    answer = await asyncio.to_thread(one.invoke, {"word": "me"}, bench.config)
    assert answer.startswith("me: ")
    assert len(await records(bench)) == 1


async def test_another_loop_asks_the_platforms(bench: Workbench):
    """Code in a loop of its own gets and calls tools through the platform's loop."""

    async def elsewhere() -> str:
        (one,), _ = await get_tools_from_capabilities(["looking"], bench.config)
        return await one.ainvoke({"word": "me"}, bench.config)

    answer = await asyncio.to_thread(lambda: asyncio.run(elsewhere()))
    assert answer.startswith("me: ")


async def test_blocked_loop_is_an_error(bench: Workbench, monkeypatch: pytest.MonkeyPatch):
    """A thread that the platform's own loop waits for would wait for ever; it is told so."""
    monkeypatch.setattr(platformed, "_PATIENCE", 0.2)
    (one,), _ = await get_tools_from_capabilities(["looking"], bench.config)
    caught: list[BaseException] = []

    def call() -> None:
        try:
            one.invoke({"word": "me"}, bench.config)
        except SetupError as error:
            caught.append(error)

    thread = threading.Thread(target=call)
    thread.start()
    thread.join(20)  # this blocks the loop, which is the point
    assert not thread.is_alive()
    assert "does not answer" in str(caught[0])


def weather(upstream: RecordingUpstream, path: str) -> dict[str, Any]:
    """An API capability that no store has."""
    return {
        "code": "get_weather",
        "type": "api",
        "options": {
            "name": "get_weather",
            "url": upstream.url(f"/{path}/{{city}}"),
            "headers": {"X-Key": "${WEATHER_KEY}"},
        },
    }


async def test_api_capability(data_dir: Path, monkeypatch: pytest.MonkeyPatch):
    """A REST endpoint is a tool like any other, with the user's setting in its headers."""
    async with RecordingUpstream() as upstream:
        monkeypatch.setenv("TOOLCRIB_EGRESS_ALLOW", upstream.place)
        upstream.reply("/one/Oslo", answer(body=b"sunny for s3cret-key"))
        upstream.reply("/two/Oslo", answer(body=b"rainy"))
        settings = {"WEATHER_KEY": "s3cret-key"}
        async with workbench(register, data_dir=data_dir, settings=settings) as bench:
            answers = [
                await asked(weather(upstream, path), bench.config) for path in ("one", "two", "one")
            ]
    assert answers == ["sunny for ***", "rainy", "sunny for ***"]
    assert upstream.requests[0].header("X-Key") == "s3cret-key"


async def asked(capability: dict[str, Any], config: Any) -> str:
    (one,), _ = await get_tools_from_capabilities([capability], config)
    return await one.ainvoke({"city": "Oslo"}, config)
