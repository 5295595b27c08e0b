"""This module lets an agent commit its workspace and push it to where the operator or user says."""

from __future__ import annotations

from typing import Final

from toolcrib.builtin.available import InSandbox
from toolcrib.builtin.sandbox.pushing import Remote, push
from toolcrib.builtin.sandbox.words import stopped
from toolcrib.builtin.tool import answers
from toolcrib.errors import CallFailed, InvalidOptions
from toolcrib.kit.metadata import method_metadata, tool_metadata
from toolcrib.kit.result import ToolResult
from toolcrib.kit.schema import openapi_schema, param
from toolcrib.plugin.registration import annotations
from toolcrib.tools.call import current_call

SETTING: Final = "GIT_REMOTE"
LARGEST: Final = 64 * 1024 * 1024
"""Bytes of history that can be pushed."""
_SECONDS: Final = 50.0
# $1 the message. Hooks and configuration of the workspace act in here, where they can do no harm.
_COMMIT: Final = """\
[ -d .git ] || git -c init.defaultBranch=main init -q || exit
git add -A || exit
git diff --cached --quiet 2>/dev/null ||
  git -c user.name=agent -c user.email=agent@toolcrib.invalid commit -q -m "$1" >&2 || exit
git rev-parse --verify -q HEAD || { echo "the workspace is empty" >&2; exit 3; }
git show --stat --format=%s HEAD | tail -n 1
"""
_BUNDLE: Final = "exec git bundle create -q - HEAD"
GUIDE = """
`git_commit` records everything in `/workspace` as one commit and pushes it, where a remote is set,
to the branch `chat-<number>`. What should not be recorded belongs into `.gitignore` first. The
message says in a line what is true after the commit.
"""


@tool_metadata(
    "Git",
    "Commit the chat's workspace and push it",
    icon="git-branch",
    color="orange",
    weight=50,
    visible=True,
    usage_guide=GUIDE,
    category="core",
)
class SandboxGitTool(InSandbox):
    """The commit is made in the sandbox; what is pushed leaves it as a file of plain history."""

    code = "git_sync"

    @method_metadata("Commit and push", "Records the workspace and pushes it")
    @annotations(read_only=False, destructive=False, open_world=True)
    @openapi_schema(
        name="git_commit",
        description="Commit everything in the chat's workspace, and push it where a remote is set.",
    )
    @param("message", "string", "What the commit is", required=True, minLength=1, maxLength=4000)
    @answers
    async def git_commit(self, message: str) -> ToolResult:
        commit, _, summary = (await self._do(_COMMIT, message)).decode().strip().partition("\n")
        said = {"commit": commit, "summary": summary.strip()}
        remote = await self._remote()
        if remote is None:
            what = f"No remote is set: the operator sets one, or {SETTING} holds one."
            return self.success_response({**said, "pushed": False, "reason": what})
        branch = f"chat-{self.rooms.key().number}"
        bundle = await self._do(_BUNDLE)
        await push(bundle, remote, branch=branch, rooms=self.rooms)
        return self.success_response({**said, "pushed": True, "branch": branch})

    async def _remote(self) -> Remote | None:
        """The operator's, else the user's or group's. Raises InvalidOptions."""
        rooms = self.rooms
        if rooms.git_remote:
            address = rooms.git_remote.replace("{chat}", str(rooms.key().number))
            return Remote(address=address, trusted=True)
        call = current_call.get()
        caller = call.caller if call else None
        address = await self.host.get_user_setting_value(
            SETTING, caller.user_id if caller else None, caller.group_id if caller else None
        )
        if not address:
            return None
        if not address.lower().startswith(("https://", "http://")):
            raise InvalidOptions(
                f"The setting {SETTING!r} is no https address.",
                where=SETTING,
                hint="Only the operator can name a folder: TOOLCRIB_SANDBOX_GIT_REMOTE.",
            )
        return Remote(address=address, trusted=False)

    async def _do(self, script: str, *more: str) -> bytes:
        rooms = self.rooms
        ran = await rooms.run(
            ("/bin/sh", "-c", script, "sh", *more),
            joined=False,
            seconds=_SECONDS,
            keep=2 * LARGEST,
        )
        why = stopped(ran, rooms.sandboxes.limits, _SECONDS)
        if why is None and ran.code == 127:
            why = "git is not installed on this machine."
        if why is None and ran.code != 0:
            why = ran.errors.text().strip()[-500:] or f"git ended with exit code {ran.code}."
        if why is None and ran.output.dropped:
            why = f"The history is larger than {LARGEST} bytes."
        if why is not None:
            raise CallFailed(f"Nothing was pushed: {why}")
        return ran.output.bytes
