"""This module runs shell commands for an agent, in the sandbox of its chat."""

from __future__ import annotations

from typing import Any

from toolcrib.builtin.available import InSandbox
from toolcrib.builtin.sandbox.words import inside, stopped
from toolcrib.builtin.tool import answers
from toolcrib.kit.metadata import method_metadata, tool_metadata
from toolcrib.kit.result import ToolResult, failed
from toolcrib.kit.schema import openapi_schema, param
from toolcrib.plugin.registration import annotations
from toolcrib.tools.call import current_call

# `cd` of some shells wants to read the folders above, which a plain command may not.
_START = 'exec env -C "$1" "$(command -v bash || echo sh)" -c "$2"'
DEFAULT = 60
GUIDE = """
Commands run in `/workspace`, a folder of this chat: files stay from call to call, nothing else
does. Processes end with the command that started them, `/tmp` is emptied, and variables are
forgotten: put what belongs together into one command (`cd app && make && ./run`).

- There is no network unless the operator allows it; install nothing, use what is there
  (`command -v git python3 gcc` tells).
- Nothing asks back: give `-y`, and no editors or pagers.
- Long output is cut in its middle. Write it to a file and look at parts of it.
- `exit_code` other than 0 comes as a failure that holds the output; 137 means that it was killed.
"""


@tool_metadata(
    "Shell",
    "Run commands in a sandbox of this chat",
    icon="terminal",
    color="gray",
    weight=30,
    visible=True,
    usage_guide=GUIDE,
    category="sandbox",
)
class SandboxShellTool(InSandbox):
    """One command a call, and all its processes end with it."""

    @method_metadata("Execute command", "Runs a shell command in the chat's workspace")
    @annotations(read_only=False, destructive=True, open_world=False)
    @openapi_schema(
        name="execute_command",
        description="Run a shell command in the chat's workspace, /workspace. Answers what it "
        "printed and its exit code. Background processes end with the command.",
    )
    @param("command", "string", "What to run, as for `bash -c`", required=True, minLength=1)
    @param("folder", "string", "Where, relative to /workspace", default=".")
    @param("timeout", "integer", "Seconds it may take", default=DEFAULT, minimum=1, maximum=3600)
    @answers
    async def execute_command(
        self,
        command: str,
        folder: str = ".",
        timeout: int = DEFAULT,  # noqa: ASYNC109 - the command's own
    ) -> ToolResult:
        rooms = self.rooms
        limits = rooms.sandboxes.limits
        seconds = min(float(timeout), limits.seconds, _left())
        ran = await rooms.run(
            ("/bin/sh", "-c", _START, "sh", inside(folder), command), seconds=seconds
        )
        why = stopped(ran, limits, seconds)
        said: dict[str, Any] = {"output": ran.output.text(), "exit_code": ran.code}
        if why is None and ran.code == 0:
            return self.success_response(said)
        why = why or f"The command ended with exit code {ran.code}."
        return failed({"error": why, **said})


def _left() -> float:
    """Seconds within which the call must answer, so that it can still say what was printed."""
    call = current_call.get()
    return float("inf") if call is None else max(0.5, call.deadline - 1.0)
