"""This module lets an agent make and change files in the sandbox of its chat."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable
from typing import Any, Final

from toolcrib.builtin.available import InSandbox
from toolcrib.builtin.sandbox.merging import merged, replaced
from toolcrib.builtin.sandbox.scripts import CHANGED, DELETE, READ, WRITE
from toolcrib.builtin.sandbox.words import inside, stopped
from toolcrib.builtin.tool import answers
from toolcrib.errors import CallFailed, InvalidArguments
from toolcrib.kit.metadata import method_metadata, tool_metadata
from toolcrib.kit.result import ToolResult
from toolcrib.kit.schema import openapi_schema, param
from toolcrib.plugin.registration import annotations

LARGEST: Final = 4 * 1024 * 1024
"""Bytes of a file that can be changed in place."""
_SECONDS: Final = 30.0
_TRIES: Final = 20
"""How often a change is made anew because others change the file at the same time."""
_PATH: dict[str, Any] = {"minLength": 1}
GUIDE = """
Files live in `/workspace`, where commands run too; paths are relative to it.

- A new file: `create_file`; it refuses to overwrite.
- A small change: `str_replace`. The old text must be in the file exactly once, spaces included:
  take a line more when it is not.
- Several changes: `edit_file`. Show only what changes, with a line `... existing code ...` (as a
  comment of the language) for everything that stays. Each part begins and ends with a line that
  the file has once.
- Most of it changes: `full_file_rewrite`.

Read a file with `execute_command` (`cat`, `sed -n 1,80p`), and search with `grep -n`.
"""


@tool_metadata(
    "Files",
    "Create, change and delete files in a sandbox of this chat",
    icon="file-text",
    color="blue",
    weight=40,
    visible=True,
    usage_guide=GUIDE,
    category="sandbox",
)
class SandboxFilesTool(InSandbox):
    """Every path is followed inside the walls only, so that no link leads out."""

    decides = False

    @method_metadata("Create file", "Makes a new file")
    @annotations(read_only=False, destructive=False, open_world=False)
    @openapi_schema(
        name="create_file", description="Make a new file in the workspace, with its folders."
    )
    @param("file_path", "string", "Where, relative to /workspace", required=True, **_PATH)
    @param("file_contents", "string", "What is in it", required=True)
    @param("permissions", "string", "In octal", default="644", pattern="^[0-7]{3,4}$")
    @answers
    async def create_file(
        self, file_path: str, file_contents: str, permissions: str = "644"
    ) -> ToolResult:
        path = await self._write(file_path, file_contents, permissions, new=True)
        return self.success_response(f"Created {path}.")

    @method_metadata("Replace text", "Replaces a text in a file")
    @annotations(read_only=False, destructive=True, open_world=False)
    @openapi_schema(
        name="str_replace",
        description="Replace a text in a file. The old text must be there exactly once.",
    )
    @param("file_path", "string", "Which file, relative to /workspace", required=True, **_PATH)
    @param("old_str", "string", "The text to replace", required=True, minLength=1)
    @param("new_str", "string", "What comes in its place", required=True)
    @answers
    async def str_replace(self, file_path: str, old_str: str, new_str: str) -> ToolResult:
        path, before, after = await self._change(
            file_path, lambda text: replaced(text, old_str, new_str)
        )
        pairs = zip(before.split("\n"), after.split("\n"), strict=False)
        line = next((number for number, (old, new) in enumerate(pairs, 1) if old != new), 1)
        return self.success_response(f"Replaced the text in line {line} of {path}.")

    @method_metadata("Rewrite file", "Replaces all of a file")
    @annotations(read_only=False, destructive=True, idempotent=True, open_world=False)
    @openapi_schema(name="full_file_rewrite", description="Replace everything that a file holds.")
    @param("file_path", "string", "Which file, relative to /workspace", required=True, **_PATH)
    @param("file_contents", "string", "What is in it from now on", required=True)
    @param("permissions", "string", "In octal", default="644", pattern="^[0-7]{3,4}$")
    @answers
    async def full_file_rewrite(
        self, file_path: str, file_contents: str, permissions: str = "644"
    ) -> ToolResult:
        await self._read(file_path)
        path = await self._write(file_path, file_contents, permissions)
        return self.success_response(f"Rewrote {path}.")

    @method_metadata("Edit file", "Changes several places of a file")
    @annotations(read_only=False, destructive=True, open_world=False)
    @openapi_schema(
        name="edit_file",
        description="Change a file by showing only what changes, with a line "
        "'... existing code ...' for everything that stays. Each part begins and ends with a line "
        "that the file has exactly once.",
    )
    @param("target_file", "string", "Which file, relative to /workspace", required=True, **_PATH)
    @param("code_edit", "string", "The changed parts, with marks between them", required=True)
    @param("instructions", "string", "What the edit is for, in a sentence")
    @answers
    async def edit_file(
        self, target_file: str, code_edit: str, instructions: str = ""
    ) -> ToolResult:
        path, before, after = await self._change(target_file, lambda text: merged(text, code_edit))
        lines = [len(text.splitlines()) for text in (before, after)]
        return self.success_response(f"Edited {path}: {lines[0]} lines before, {lines[1]} now.")

    @method_metadata("Delete file", "Removes a file")
    @annotations(read_only=False, destructive=True, open_world=False)
    @openapi_schema(name="delete_file", description="Remove a file from the workspace.")
    @param("file_path", "string", "Which file, relative to /workspace", required=True, **_PATH)
    @answers
    async def delete_file(self, file_path: str) -> ToolResult:
        path = inside(file_path)
        await self._do("deleted", path, DELETE)
        return self.success_response(f"Deleted {path}.")

    async def _change(self, file_path: str, change: Callable[[str], str]) -> tuple[str, str, str]:
        """Path, text before and after. Calls of one chat run at once: none undoes another's."""
        for _ in range(_TRIES):
            text, mode = await self._read(file_path)
            changed = await asyncio.to_thread(change, text)
            try:
                return await self._write(file_path, changed, mode, before=text), text, changed
            except _ChangedMeanwhileError:
                continue
        raise CallFailed(f"{file_path!r} was not changed: others change it all the time.")

    async def _read(self, file_path: str) -> tuple[str, str]:
        """Text and permissions."""
        path = inside(file_path)
        said = await self._do("read", path, READ)
        mode, _, content = said.partition(b"\n")
        try:
            return content.decode(), mode.decode()
        except UnicodeDecodeError:
            raise CallFailed(f"{path!r} is no text in UTF-8.") from None

    async def _write(
        self, file_path: str, text: str, mode: str, *, new: bool = False, before: str | None = None
    ) -> str:
        """`before`: what is to be replaced. Raises _ChangedMeanwhileError for anything else."""
        path = inside(file_path)
        old = "" if before is None else hashlib.sha256(before.encode()).hexdigest()
        await self._do("written", path, WRITE, mode, "new" if new else "", old, stdin=_bytes(text))
        return path

    async def _do(self, done: str, path: str, script: str, *more: str, stdin: bytes = b"") -> bytes:
        """Run a script on a path inside the walls; what it printed. Raises CallFailed."""
        rooms = self.rooms
        ran = await rooms.run(
            ("/bin/sh", "-c", script, "sh", f"./{path}", *more),
            stdin=stdin,
            joined=False,
            seconds=_SECONDS,
            keep=2 * LARGEST,
        )
        why = stopped(ran, rooms.sandboxes.limits, _SECONDS)
        if why is None and ran.code == CHANGED:
            raise _ChangedMeanwhileError(f"{path!r} was changed meanwhile.")
        if why is None and ran.code != 0:
            words = ran.errors.text().strip().splitlines()
            why = words[-1] if words else f"exit code {ran.code}"
        if why is None and ran.output.total > LARGEST:
            why = f"it has more than {LARGEST} bytes"
        if why is not None:
            raise CallFailed(f"{path!r} was not {done}: {why.rstrip('.')}.")
        return ran.output.bytes


class _ChangedMeanwhileError(CallFailed):
    """A file is not any more what it was when it was read."""


def _bytes(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise InvalidArguments("The text holds half a character, '\\ud800' or so.") from None
