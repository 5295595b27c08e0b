"""The workbench: a plugin's tools called as users call them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from toolcrib.errors import NotFound
from toolcrib.invocation.journal import CallFilter
from toolcrib.langchain import get_tools_from_capabilities
from toolcrib.testing import workbench


def register(registry_fn: Callable[..., None], context: Any = None) -> None:
    """A plugin with a setting, a chat's document service and two codes."""

    async def token_length(config: dict[str, Any]) -> str:
        """Length of the user's token."""
        values = config["configurable"]
        token = await context.get_user_setting_value(
            "CRM_TOKEN", values["logged_user_id"], values["group_id"]
        )
        return f"{len(token)}: {token}"

    async def chat_id(config: dict[str, Any]) -> str:
        """The chat."""
        return str(config["configurable"]["chat_id"])

    registry_fn("crm", [token_length], name="CRM")
    registry_fn("chats", [chat_id])


async def register_later(registry_fn: Callable[..., None]) -> None:
    """A plugin whose register is async."""

    def twice(number: int) -> int:
        """Twice a number."""
        return number * 2

    registry_fn("numbers", [twice])


async def test_call_with_settings_and_chat():
    """Settings are the user's own, masked in what comes back; the call is in the journal."""
    async with workbench(register, settings={"CRM_TOKEN": "made-up-token"}) as bench:
        assert bench.codes == ("crm", "chats")
        assert list((await bench.toolset()).tools) == ["token_length", "chat_id"]
        outcome = await bench.call("token_length")
        assert outcome.output.text == "13: ***"
        assert (await bench.call("chat_id")).output.text == str(bench.chat.id)
        assert (await bench.call("chat_id", in_chat=False)).output.text == "None"
        journal = bench.platform.storage.journal
        await journal.flush()
        assert len(await journal.list(CallFilter(everything=True))) == 3


async def test_async_register_and_arguments():
    """What a model would send is checked and read as the schema wants it."""
    async with workbench(register_later) as bench:
        assert (await bench.call("twice", {"number": "21"})).output.structured == 42
        bad = await bench.call("twice", {"number": "many"})
        assert (bad.success, bad.output.error and bad.output.error.code) == (
            False,
            "invalid_arguments",
        )


async def test_tool_that_is_not_there():
    """It is NotFound, as everywhere."""
    async with workbench(register_later) as bench:
        with pytest.raises(NotFound):
            await bench.call("thrice")


async def test_langchain_config():
    """The workbench's config is what LangChain code passes."""
    async with workbench(register) as bench:
        (one,), _ = await get_tools_from_capabilities(["chats"], bench.config)
        assert await one.ainvoke({}, bench.config) == str(bench.chat.id)


async def test_data_directory_of_its_own(tmp_path: Path):
    """With a folder given, everything is kept there."""
    async with workbench(register_later, data_dir=tmp_path / "crib"):
        pass
    assert (tmp_path / "crib" / "toolcrib.db").is_file()


def test_settings_fixture(toolcrib_settings: Any, tmp_path: Path):
    """The fixture's installation lives in the test's own folder."""
    assert toolcrib_settings.data_dir == tmp_path / "toolcrib"


def test_registry_fixture(toolcrib_registry: Any):
    """A registry that no other test sees."""
    toolcrib_registry.register_tools("a", [test_registry_fixture])
    assert [tool.__name__ for tool in toolcrib_registry.resolve_tools("a")] == [
        "test_registry_fixture"
    ]
