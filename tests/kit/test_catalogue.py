"""The native catalogue: five lists, and questions about what is installed."""

from __future__ import annotations

import logging

import pytest

from toolcrib.kit import (
    get_all_tool_summaries,
    get_all_tools,
    get_tool_class,
    get_tool_info,
    get_tool_metadata_summary,
    get_tool_usage_guide,
    get_tools_by_category,
)
from toolcrib.kit.function_map import get_tool_for_function
from toolcrib.kit.groups import ALL_TOOLS, CORE_TOOLS

CATEGORIES = ["core", "sandbox", "search", "utility", "agent_builder"]


def test_the_core_list() -> None:
    """It is the one that is printed whole."""
    assert CORE_TOOLS == [
        ("expand_msg_tool", "core.tools.expand_msg_tool", "ExpandMessageTool"),
        ("message_tool", "core.tools.message_tool", "MessageTool"),
        ("task_list_tool", "core.tools.task_list_tool", "TaskListTool"),
        ("sb_git_sync", "core.tools.sb_git_sync", "SandboxGitTool"),
    ]


@pytest.mark.parametrize(
    "group",
    [
        ("sb_shell_tool", "core.tools.sb_shell_tool", "SandboxShellTool"),
        ("sb_files_tool", "core.tools.sb_files_tool", "SandboxFilesTool"),
        ("web_search_tool", "core.tools.web_search_tool", "SandboxWebSearchTool"),
        ("image_search_tool", "core.tools.image_search_tool", "SandboxImageSearchTool"),
        ("browser_tool", "core.tools.browser_tool", "BrowserTool"),
        ("vapi_voice_tool", "core.tools.vapi_voice_tool", "VapiVoiceTool"),
        (
            "agent_config_tool",
            "core.tools.agent_builder_tools.agent_config_tool",
            "AgentConfigTool",
        ),
        ("agent_creation_tool", "core.tools.agent_creation_tool", "AgentCreationTool"),
    ],
)
def test_groups_that_are_named(group: tuple[str, str, str]) -> None:
    """Name, module and class are Kortix's; installed or not, they can be looked up."""
    assert group in ALL_TOOLS
    assert get_tool_info(group[0]) == group


def test_categories_without_anything_installed() -> None:
    """Five keys in order; together they are all groups, each once."""
    found = get_tools_by_category()
    assert list(found) == CATEGORIES
    assert [group for groups in found.values() for group in groups] == ALL_TOOLS
    assert {name: len(groups) for name, groups in found.items()} == {
        "core": 4,
        "sandbox": 11,
        "search": 5,
        "utility": 5,
        "agent_builder": 5,
    }
    assert len({name for name, _, _ in ALL_TOOLS}) == len(ALL_TOOLS)


def test_unknown_names() -> None:
    """None, not an error."""
    assert get_tool_info("no_such_tool") is None
    assert get_tool_metadata_summary("no_such_tool") is None
    assert get_tool_usage_guide("no_such_tool") is None


@pytest.mark.usefixtures("workshop")
def test_installed_classes(caplog: pytest.LogCaptureFixture) -> None:
    """In the catalogue's order, then others; a module that breaks is left out and named."""
    with caplog.at_level(logging.WARNING, "toolcrib.kit"):
        found = get_all_tools()
    assert {name: kind.__name__ for name, kind in found.items()} == {
        "message_tool": "MessageTool",
        "sb_files_tool": "SandboxFilesTool",
        "web_search_tool": "SandboxWebSearchTool",
        "browser_tool": "BrowserTool",
        "vapi_voice_tool": "VapiVoiceTool",
        "lathe_tool": "LatheTool",
    }
    assert caplog.messages == ["the tool 'apify_tool' cannot be imported: RuntimeError: broken"]


@pytest.mark.usefixtures("workshop")
def test_a_class_by_module_and_name() -> None:
    """The announced class of that group; otherwise the module is imported."""
    named = get_tool_class("core.tools.web_search_tool", "SandboxWebSearchTool")
    assert named is get_all_tools()["web_search_tool"]
    assert get_tool_class("workshop", "LatheTool") is get_all_tools()["lathe_tool"]
    with pytest.raises(ImportError):
        get_tool_class("no_module_of_this_name", "X")
    with pytest.raises(AttributeError):
        get_tool_class("workshop", "NoSuchTool")


@pytest.mark.usefixtures("workshop")
def test_an_announced_stranger_joins_its_category() -> None:
    """The one that its metadata names."""
    assert get_tools_by_category()["sandbox"][-1] == ("lathe_tool", "workshop", "LatheTool")
    assert get_tool_info("lathe_tool") == ("lathe_tool", "workshop", "LatheTool")


@pytest.mark.usefixtures("workshop")
def test_summaries() -> None:
    """Display name and description; a class without metadata is left out."""
    assert get_tool_metadata_summary("web_search_tool") == {
        "display_name": "Web Search",
        "description": "Search the web",
    }
    assert get_tool_metadata_summary("sb_files_tool") is None
    assert list(get_all_tool_summaries()) == [
        "message_tool",
        "web_search_tool",
        "browser_tool",
        "vapi_voice_tool",
        "lathe_tool",
    ]
    assert get_all_tool_summaries()["message_tool"] == {
        "display_name": "Messages",
        "description": "Talk to the user",
    }


@pytest.mark.usefixtures("workshop")
def test_usage_guides() -> None:
    """The author's text; None where there is none."""
    assert get_tool_usage_guide("browser_tool") == "Look before you click."
    assert get_tool_usage_guide("message_tool") is None
    assert get_tool_usage_guide("sb_files_tool") is None


@pytest.mark.usefixtures("workshop")
def test_the_group_of_a_function() -> None:
    """Function name to group."""
    assert get_tool_for_function("scrape_webpage") == "web_search_tool"
    assert get_tool_for_function("turn") == "lathe_tool"
    assert get_tool_for_function("fly") is None
