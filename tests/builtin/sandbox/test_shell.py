"""Agents run commands in a folder of their chat, and read what came of it."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

import pytest

from tests.support.chatting import Office, Talk, open_office
from toolcrib.errors import CallRefused
from toolcrib.settings import Settings


async def test_a_command_answers_its_output_and_code(talk: Talk) -> None:
    """stdout and stderr in the order in which they were written."""
    said = await talk.ok("execute_command", command="echo one; echo two >&2; pwd; id -un")
    assert said == {"output": "one\ntwo\n/workspace\nnobody\n", "exit_code": 0}


async def test_a_command_that_fails_still_says_what_it_wrote(talk: Talk) -> None:
    """Any other code is a failed call that holds output and code."""
    answer = await talk.call("execute_command", command="echo halfway; exit 3")
    assert answer["success"] is False
    assert answer["error"]["code"] == "tool_error"
    assert answer["structured"] == {
        "error": "The command ended with exit code 3.",
        "output": "halfway\n",
        "exit_code": 3,
    }


async def test_files_stay_and_everything_else_goes(talk: Talk) -> None:
    """From call to call in one chat; variables, /tmp and processes do not."""
    await talk.ok(
        "execute_command", command="mkdir app; echo 1 > app/n; export A=1; echo 1 > /tmp/n"
    )
    said = await talk.ok("execute_command", command="cat n; echo $A; ls /tmp", folder="app")
    assert said["output"] == "1\n\n"


async def test_a_folder_outside_is_refused(talk: Talk) -> None:
    """Before anything runs, and in words that say what is possible."""
    for folder in ("..", "/etc", "app/../../etc", "/workspace/../etc"):
        code, message = await talk.failed("execute_command", command="ls", folder=folder)
        assert (code, "not in the workspace" in message) == ("invalid_arguments", True)
    code, message = await talk.failed("execute_command", command="ls", folder="missing")
    assert "exit_code" in message


async def test_a_command_that_takes_too_long_is_stopped(talk: Talk) -> None:
    """What it wrote until then is in the answer."""
    answer = await talk.call("execute_command", command="echo begun; sleep 1000", timeout=5)
    assert answer["structured"]["error"].startswith("It was stopped after 5 s.")
    assert answer["structured"]["output"] == "begun\n"


async def test_resources_run_out_with_a_reason(talk: Talk) -> None:
    """Memory, disk and output each say what the limit is."""
    answer = await talk.call(
        "execute_command",
        command="for i in $(seq 9); do head -c 20M /dev/zero > f$i; sleep .2; done",
    )
    assert "more than 64 MiB" in answer["structured"]["error"]
    answer = await talk.call("execute_command", command="yes | head -c 1G")
    assert "64 MiB of output" in answer["structured"]["error"]
    assert "bytes left out" in answer["structured"]["output"]


async def test_two_chats_of_one_user_share_nothing(office: Office) -> None:
    """A chat's workspace is its own."""
    ada = await office.person("ada")
    one, other = await office.talk(ada), await office.talk(ada)
    await one.ok("create_file", file_path="mine.txt", file_contents="x")
    assert (await other.ok("execute_command", command="ls -A"))["output"] == ""


async def test_another_user_cannot_use_the_chat(office: Office) -> None:
    """Its number alone opens nothing: 404 as if it did not exist."""
    talk = await office.talk(await office.person("ada"))
    bob = await office.person("bob")
    path = f"/api/v1/agents/{office.agent}/tools/execute_command/call"
    body = {"arguments": {"command": "ls"}, "chat_id": talk.chat["id"]}
    assert (await bob.api.post(path, json=body)).status_code == 404


async def test_outside_of_a_chat_nothing_runs(office: Office) -> None:
    """There would be no end to the workspace: the answer says what is missing."""
    ada = await office.person("ada")
    path = f"/api/v1/agents/{office.agent}/tools/execute_command/call"
    answer = (await ada.api.post(path, json={"arguments": {"command": "ls"}})).json()
    assert answer["error"]["code"] == "not_granted"
    assert "chat" in answer["error"]["message"]


async def test_deleting_the_chat_ends_everything(talk: Talk) -> None:
    """What runs is stopped, and the folder is gone."""
    folder = talk.crib.platform.settings.data_dir / "sandboxes"
    async with asyncio.TaskGroup() as group:
        busy = group.create_task(talk.call("execute_command", command="touch here; sleep 1000"))
        while not list(folder.glob("*/here")):  # noqa: ASYNC110 - nothing else tells
            await asyncio.sleep(0.02)
        await talk.end()
        answer = await busy
    assert answer["structured"]["error"] == "It was stopped: the chat's sandbox was closed."
    assert list(folder.iterdir()) == []


async def test_a_call_that_outlives_its_chat_makes_nothing_again(talk: Talk) -> None:
    """The next command of a call that began before the chat was deleted."""
    await talk.ok("execute_command", command="touch made")
    sandboxes = talk.crib.platform.rooms.sandboxes
    [key] = sandboxes.kept()
    await talk.end()

    with pytest.raises(CallRefused, match="the chat is gone"):
        await sandboxes.run(key, ("/bin/sh", "-c", "touch again"))

    assert sandboxes.kept() == []


@pytest.fixture
def bare_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A machine without bubblewrap, and with everything else."""
    for name in ("setpriv", "prlimit", "unshare"):
        if (found := shutil.which(name)) is not None:
            (tmp_path / name).symlink_to(found)
    monkeypatch.setattr("toolcrib.isolation.programs.PATH", str(tmp_path))


@pytest.mark.usefixtures("bare_machine")
async def test_where_nothing_isolates_nothing_is_offered(settings: Settings) -> None:
    """The tools are skipped with the reason and what would change it."""
    async with open_office(settings, ["sandbox", "git_sync"]) as office:
        ada = await office.person("ada")
        answer = await ada.api.get(f"/api/v1/agents/{office.agent}/tools")
        assert answer.json()["tools"] == []
        why = "commands cannot be isolated here: bubblewrap is not installed"
        fix = "apt-get install bubblewrap"
        skipped = answer.json()["skipped"]
        assert {(row["ref"], row["reason"], row["fix"]) for row in skipped} == {
            ("native:sandbox", why, fix),
            ("native:git_sync", why, fix),
        }


async def test_the_operator_switches_it_off(settings: Settings) -> None:
    """Where it could run as well."""
    settings = settings.model_copy(update={"sandbox": "off"})
    async with open_office(settings, ["sandbox"]) as office:
        ada = await office.person("ada")
        answer = await ada.api.get(f"/api/v1/agents/{office.agent}/tools")
        assert answer.json()["tools"] == []
        assert [row["reason"] for row in answer.json()["skipped"]] == [
            "commands are switched off here"
        ]


@pytest.mark.usefixtures("bare_machine")
async def test_the_operator_wants_plain_processes(settings: Settings) -> None:
    """They run where nothing isolates them."""
    settings = settings.model_copy(update={"sandbox": "plain"})
    async with open_office(settings, ["sandbox"]) as office:
        talk = await office.talk(await office.person("ada"))
        said = await talk.ok("execute_command", command="id -u; ulimit -u; (sleep 9999 &)")
        user, processes = map(int, said["output"].split())
        assert user != 0
        assert processes == settings.sandbox_processes
