"""This module lets an agent make and change files in the sandbox of its chat."""

from __future__ import annotations

from typing import Any, Final

from toolcrib.builtin.available import InSandbox
from toolcrib.builtin.sandbox.merging import merged
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
# $1 the file, $2 its permissions, $3 whether it must be new. A half-written file is never seen.
_WRITE: Final = """\
umask 022
if [ -d "$1" ]; then echo "it is a folder" >&2; exit 3; fi
if [ -n "$3" ] && { [ -e "$1" ] || [ -L "$1" ]; }; then echo "it is already there" >&2; exit 3; fi
folder=$(dirname -- "$1"); mkdir -p -- "$folder" || exit
fresh=$(mktemp -- "$folder/.new-XXXXXX") || exit
if cat > "$fresh" && chmod -- "$2" "$fresh" && mv -fT -- "$fresh" "$1"; then exit 0; fi
rm -f -- "$fresh"; exit 1
"""
_READ: Final = """\
if [ -d "$1" ]; then echo "it is a folder" >&2; exit 3; fi
stat -L -c %a -- "$1" && exec cat -- "$1"
"""
_DELETE: Final = 'if [ -d "$1" ]; then echo "it is a folder" >&2; exit 3; fi; exec rm -- "$1"'
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
        text, mode = await self._read(file_path)
        times = text.count(old_str)
        if times != 1:
            what = "is not in it" if not times else f"is in it {times} times"
            raise InvalidArguments(
                f"Nothing was changed in {file_path!r}: the old text {what}.",
                hint="Give it exactly, with enough around it to be there once.",
            )
        line = text[: text.index(old_str)].count("\n") + 1
        path = await self._write(file_path, text.replace(old_str, new_str), mode)
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
        text, mode = await self._read(target_file)
        changed = merged(text, code_edit)
        path = await self._write(target_file, changed, mode)
        before, after = len(text.splitlines()), len(changed.splitlines())
        return self.success_response(f"Edited {path}: {before} lines before, {after} now.")

    @method_metadata("Delete file", "Removes a file")
    @annotations(read_only=False, destructive=True, open_world=False)
    @openapi_schema(name="delete_file", description="Remove a file from the workspace.")
    @param("file_path", "string", "Which file, relative to /workspace", required=True, **_PATH)
    @answers
    async def delete_file(self, file_path: str) -> ToolResult:
        path = inside(file_path)
        await self._do("deleted", path, _DELETE)
        return self.success_response(f"Deleted {path}.")

    async def _read(self, file_path: str) -> tuple[str, str]:
        """Text and permissions."""
        path = inside(file_path)
        said = await self._do("read", path, _READ)
        mode, _, content = said.partition(b"\n")
        try:
            return content.decode(), mode.decode()
        except UnicodeDecodeError:
            raise CallFailed(f"{path!r} is no text in UTF-8.") from None

    async def _write(self, file_path: str, text: str, mode: str, *, new: bool = False) -> str:
        path = inside(file_path)
        given = text.encode(errors="surrogatepass")
        await self._do("written", path, _WRITE, mode, "new" if new else "", stdin=given)
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
        if why is None and ran.code != 0:
            words = ran.errors.text().strip().splitlines()
            why = words[-1] if words else f"exit code {ran.code}"
        if why is None and ran.output.total > LARGEST:
            why = f"it has more than {LARGEST} bytes"
        if why is not None:
            raise CallFailed(f"{path!r} was not {done}: {why.rstrip('.')}.")
        return ran.output.bytes
