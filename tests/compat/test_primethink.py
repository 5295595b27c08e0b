# pyright: basic
"""Import lines of PrimeThink's main repository, after `primethink.install()`."""

from __future__ import annotations

from pathlib import Path

from tests.support.packages import lay_out, run_python

TOOLS = {
    "src/virtual_assistant_lc/tools/notes.py": """
        from langchain_core.runnables import RunnableConfig
        from langchain_core.tools import tool
        from src.virtual_assistant_lc.tool_registry import capability


        @capability("notes")
        @tool("keep_note")
        async def keep_note(text: str, config: RunnableConfig) -> str:
            \"\"\"Keep a note.\"\"\"
            return f"{text} for {config['configurable']['logged_user_id']}"
    """,
}
SCRIPT = """
import asyncio
from toolcrib.compat import primethink
primethink.install()

from src.utils.capabilities_utils import get_tools_from_capabilities
from src.virtual_assistant_lc.tool_registrations import register_tools
from src.virtual_assistant_lc.tool_registry import get_capability_meta, resolve_tools
from src.virtual_assistant_lc.tools.notes import keep_note

register_tools("notes", [keep_note], name="Notes", description="Keeps notes")
print([one.name for one in resolve_tools(["notes"])])
print(get_capability_meta("notes"))

async def main():
    config = {"configurable": {"logged_user_id": 7, "group_id": 5}}
    (tool,), servers = await get_tools_from_capabilities(["notes"], config)
    print(await tool.ainvoke({"text": "tea"}, config), servers)

asyncio.run(main())
"""


META = {
    "code": "notes",
    "name": "Notes",
    "description": "Keeps notes",
    "tool_names": ["keep_note"],
}


def test_tools_of_the_main_repository(tmp_path: Path) -> None:
    """A module that uses the decorator, one list that registers, and the way to an agent."""
    lay_out(tmp_path, "p-main", files=TOOLS, entry_points={})
    done = run_python(SCRIPT, tmp_path)
    assert done.stdout.splitlines() == [
        "['keep_note']",
        str(META),
        "tea for 7 []",
    ], done.stderr
