"""This module holds the tools that change something: notes, each user's apart.

Notes live in the file that HELLO_NOTES_FILE names, one JSON object a line, so that they survive
a restart and several server processes share them. Without it they live in memory.
"""

import asyncio
import json
import os
from pathlib import Path

from langchain_core.runnables import RunnableConfig
from langchain_core.tools import tool
from pydantic import BaseModel, Field

_in_memory: list[dict] = []


class SaveNoteInput(BaseModel):
    text: str = Field(description="The note, one or two sentences", min_length=1, max_length=2000)


@tool("hello_save_note", args_schema=SaveNoteInput)
async def save_note(text: str, config: RunnableConfig) -> str:
    """Keep a short note for the user. Use it when the user asks to remember something."""
    owner = _owner(config)
    await asyncio.to_thread(_append, {**owner, "text": text})
    mine = await asyncio.to_thread(_notes_of, owner)
    return f"Noted. That makes {len(mine)} note{'' if len(mine) == 1 else 's'}."


class ListNotesInput(BaseModel):
    limit: int = Field(default=10, ge=1, le=100, description="How many, the newest first")


@tool("hello_list_notes", args_schema=ListNotesInput)
async def list_notes(limit: int, config: RunnableConfig) -> str:
    """List the user's own notes, the newest first."""
    mine = await asyncio.to_thread(_notes_of, _owner(config))
    if not mine:
        return "There are no notes yet."
    newest = list(reversed(mine))[:limit]
    return "\n".join(f"{number}. {text}" for number, text in enumerate(newest, start=1))


list_notes.metadata = {"readOnlyHint": True}


def _owner(config: RunnableConfig) -> dict:
    """Whose notes: the same user in another group has others."""
    caller = config.get("configurable", {})
    return {"user": caller.get("logged_user_id"), "group": caller.get("group_id")}


def _append(note: dict) -> None:
    path = os.environ.get("HELLO_NOTES_FILE")
    if not path:
        _in_memory.append(note)
        return
    line = json.dumps(note, ensure_ascii=False) + "\n"
    # One write to a file that was opened for appending: lines of several processes do not mix.
    with Path(path).open("ab", buffering=0) as file:
        file.write(line.encode())


def _notes_of(owner: dict) -> list[str]:
    path = os.environ.get("HELLO_NOTES_FILE")
    notes = _in_memory
    if path:
        file = Path(path)
        lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
        notes = [json.loads(line) for line in lines]
    return [note["text"] for note in notes if owner == {k: note[k] for k in owner}]
