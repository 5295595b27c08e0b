"""This module gives kit tests a catalogue and MCP registry, and leaves both as they were."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.packages import lay_out
from toolcrib.kit.catalogue import forget_classes
from toolcrib.kit.guides import get_tool_guide_registry
from toolcrib.kit.instances import clear_instances
from toolcrib.kit.mcp_registry import get_mcp_registry

WORKSHOP = '''
from toolcrib.kit import Tool, method_metadata, openapi_schema, param, tool_metadata

@tool_metadata("Web Search", "Search the web", icon="globe", weight=20, visible=True,
               usage_guide="Ask one question at a time.")
class SandboxWebSearchTool(Tool):
    @openapi_schema(name="web_search", description="Search")
    @param("query", "string", "What for", required=True)
    async def web_search(self, query):
        return self.success_response(f"results for {query}")

    @openapi_schema(name="scrape_webpage", description="Read a page")
    @method_metadata("Read a page", "Reads it whole", visible=False)
    async def scrape_webpage(self):
        return self.success_response("page")

@tool_metadata("Messages", "Talk to the user", is_core=True, weight=5)
class MessageTool(Tool):
    @openapi_schema(name="ask", description="Ask the user")
    async def ask(self):
        return self.success_response("asked")

class SandboxFilesTool(Tool):
    """Keeps files."""

    @openapi_schema(name="create_file", description="Make a file")
    async def create_file(self):
        return self.success_response("made")

    @openapi_schema(name="delete_file", description="Remove a file")
    @method_metadata("Delete", "Removes", is_core=True)
    async def delete_file(self):
        return self.success_response("gone")

@tool_metadata("Browser", "Browse", usage_guide="Look before you click.")
class BrowserTool(Tool):
    @openapi_schema(name="browser_navigate_to", description="Go")
    async def browser_navigate_to(self):
        return self.success_response("there")

    @openapi_schema(name="browser_act", description="Act")
    async def browser_act(self):
        return self.success_response("done")

@tool_metadata("Lathe", "Turn wood", category="sandbox")
class LatheTool(Tool):
    @openapi_schema(name="turn", description="Turn")
    async def turn(self):
        return self.success_response("round")

@tool_metadata("Voice", "Call people")
class VapiVoiceTool(Tool):
    def __init__(self, thread_id, account_id=None):
        super().__init__()
        self.seen = (thread_id, account_id)

    @openapi_schema(name="list_calls", description="List")
    async def list_calls(self):
        return self.success_response(list(self.seen))
'''
GROUP = "toolcrib.kit.of_these_tests"
ANNOUNCED = {
    "web_search_tool": "workshop:SandboxWebSearchTool",
    "message_tool": "workshop:MessageTool",
    "sb_files_tool": "workshop:SandboxFilesTool",
    "browser_tool": "workshop:BrowserTool",
    "vapi_voice_tool": "workshop:VapiVoiceTool",
    "lathe_tool": "workshop:LatheTool",
    "apify_tool": "workshop_that_breaks:ApifyTool",
}


def forget() -> None:
    forget_classes()
    clear_instances()
    get_tool_guide_registry().forget()
    get_mcp_registry().clear()


@pytest.fixture(autouse=True)
def _fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Nothing is announced but by these tests: what the box brings is tried elsewhere."""
    monkeypatch.setattr("toolcrib.kit.announced.GROUP", GROUP)
    forget()
    yield
    forget()


@pytest.fixture
def workshop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An installed distribution that announces some classes of the catalogue, and one more."""
    site = tmp_path / "site"
    site.mkdir()
    files = {"workshop.py": WORKSHOP, "workshop_that_breaks.py": "raise RuntimeError('broken')"}
    lay_out(site, "p-workshop", files=files, entry_points={GROUP: ANNOUNCED})
    monkeypatch.syspath_prepend(site)
    forget()
    yield site
    sys.modules.pop("workshop", None)
    sys.modules.pop("workshop_that_breaks", None)
