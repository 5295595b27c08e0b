"""This module lists the native tool groups: name, module and class, in five categories.

The modules are Kortix's own. A group counts only where its class is installed: announced by an
entry point of the same name, or importable from that module.
"""

from __future__ import annotations

Group = tuple[str, str, str]
"""Tool name, module path, class name."""
_BUILDERS = "core.tools.agent_builder_tools"


def _group(name: str, kind: str) -> Group:
    return name, f"core.tools.{name}", kind


CORE_TOOLS: list[Group] = [
    _group("expand_msg_tool", "ExpandMessageTool"),
    _group("message_tool", "MessageTool"),
    _group("task_list_tool", "TaskListTool"),
    _group("sb_git_sync", "SandboxGitTool"),
]
SANDBOX_TOOLS: list[Group] = [
    _group("sb_shell_tool", "SandboxShellTool"),
    _group("sb_files_tool", "SandboxFilesTool"),
    _group("sb_file_reader_tool", "SandboxFileReaderTool"),
    _group("sb_expose_tool", "SandboxExposeTool"),
    _group("sb_vision_tool", "SandboxVisionTool"),
    _group("sb_image_edit_tool", "SandboxImageEditTool"),
    _group("sb_kb_tool", "SandboxKbTool"),
    _group("sb_presentation_tool", "SandboxPresentationTool"),
    _group("sb_canvas_tool", "SandboxCanvasTool"),
    _group("sb_spreadsheet_tool", "SandboxSpreadsheetTool"),
    _group("sb_upload_file_tool", "SandboxUploadFileTool"),
]
SEARCH_TOOLS: list[Group] = [
    _group("web_search_tool", "SandboxWebSearchTool"),
    _group("image_search_tool", "SandboxImageSearchTool"),
    _group("people_search_tool", "PeopleSearchTool"),
    _group("company_search_tool", "CompanySearchTool"),
    _group("paper_search_tool", "PaperSearchTool"),
]
UTILITY_TOOLS: list[Group] = [
    _group("browser_tool", "BrowserTool"),
    _group("vapi_voice_tool", "VapiVoiceTool"),
    _group("reality_defender_tool", "RealityDefenderTool"),
    _group("apify_tool", "ApifyTool"),
    _group("composio_upload_tool", "ComposioUploadTool"),
]
AGENT_BUILDER_TOOLS: list[Group] = [
    ("agent_config_tool", f"{_BUILDERS}.agent_config_tool", "AgentConfigTool"),
    _group("agent_creation_tool", "AgentCreationTool"),
    ("mcp_search_tool", f"{_BUILDERS}.mcp_search_tool", "MCPSearchTool"),
    ("credential_profile_tool", f"{_BUILDERS}.credential_profile_tool", "CredentialProfileTool"),
    ("trigger_tool", f"{_BUILDERS}.trigger_tool", "TriggerTool"),
]
CATEGORIES: dict[str, list[Group]] = {
    "core": CORE_TOOLS,
    "sandbox": SANDBOX_TOOLS,
    "search": SEARCH_TOOLS,
    "utility": UTILITY_TOOLS,
    "agent_builder": AGENT_BUILDER_TOOLS,
}
ALL_TOOLS: list[Group] = [group for groups in CATEGORIES.values() for group in groups]
