"""The sandbox and browser tools stand in the catalogue as Kortix's do, with their guides."""

from __future__ import annotations

import pytest

from toolcrib.kit import (
    ToolRegistry,
    get_all_tools,
    get_tool_metadata_summary,
    get_tool_usage_guide,
    get_tools_by_category,
)
from toolcrib.kit.tool import names_of

GROUPS = {
    "sb_shell_tool": ("sandbox", "SandboxShellTool", ["execute_command"]),
    "sb_files_tool": (
        "sandbox",
        "SandboxFilesTool",
        ["create_file", "str_replace", "full_file_rewrite", "edit_file", "delete_file"],
    ),
    "sb_git_sync": ("core", "SandboxGitTool", ["git_commit"]),
    "browser_tool": (
        "utility",
        "BrowserTool",
        [
            "browser_navigate_to",
            "browser_act",
            "browser_extract_content",
            "browser_screenshot",
        ],
    ),
}


@pytest.mark.parametrize("group", GROUPS)
def test_a_group_is_installed_under_its_name(group: str) -> None:
    """Class, functions, category, summary and guide."""
    category, kind, functions = GROUPS[group]
    found = get_all_tools()[group]
    assert (found.__name__, names_of(found)) == (kind, functions)
    assert group in [name for name, _, _ in get_tools_by_category()[category]]
    summary = get_tool_metadata_summary(group)
    assert summary is not None
    assert summary["display_name"]
    guide = get_tool_usage_guide(group)
    assert guide is not None
    assert functions[0] in guide or group == "sb_shell_tool"


async def test_without_an_installation_a_call_says_what_is_missing() -> None:
    """Registered by hand, as Kortix's code does, where no platform is open."""
    registry = ToolRegistry()
    registry.register_tool(get_all_tools()["sb_shell_tool"])
    result = await registry.get_available_functions()["execute_command"](command="ls")
    assert result.success is False
    assert "open_platform()" in result.output
