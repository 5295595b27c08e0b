"""Agents make and change files in their workspace, and reach no other."""

from __future__ import annotations

import asyncio
import json
import time
from pathlib import Path

import pytest

from tests.support.chatting import Talk
from toolcrib.builtin.sandbox.merging import merged, replaced
from toolcrib.errors import InvalidArguments


async def contents(talk: Talk, path: str) -> str:
    return (await talk.ok("execute_command", command=f"cat {path}"))["output"]


async def test_a_file_is_made_with_its_folders(talk: Talk) -> None:
    """With the permissions that were asked for, and never over another."""
    text = "first\nsecond – ünïcode\n"
    said = await talk.ok("create_file", file_path="/workspace/a/b.txt", file_contents=text)
    assert said == "Created a/b.txt."
    assert await contents(talk, "a/b.txt") == text
    await talk.ok(
        "create_file", file_path="run.sh", file_contents="#!/bin/sh\necho ran", permissions="755"
    )
    assert (await talk.ok("execute_command", command="./run.sh"))["output"] == "ran\n"
    code, message = await talk.failed("create_file", file_path="a/b.txt", file_contents="x")
    assert (code, message) == ("tool_error", "'a/b.txt' was not written: it is already there.")
    assert await contents(talk, "a/b.txt") == text


async def test_a_text_is_replaced_once(talk: Talk) -> None:
    """Only where it is there exactly once; permissions stay."""
    await talk.ok("create_file", file_path="f", file_contents="a\nb\na\nc\n", permissions="755")
    said = await talk.ok("str_replace", file_path="f", old_str="b\na", new_str="B\nA")
    assert said == "Replaced the text in line 2 of f."
    assert await contents(talk, "f; stat -c %a f") == "a\nB\nA\nc\n755\n"
    for old, why in (("x", "is not in it"), ("\n", "is in it 4 times")):
        code, message = await talk.failed("str_replace", file_path="f", old_str=old, new_str="")
        assert (code, why in message) == ("invalid_arguments", True)


async def test_a_file_is_rewritten_edited_and_deleted(talk: Talk) -> None:
    """Each says what it did; what is not there is said too."""
    await talk.ok(
        "create_file", file_path="f.py", file_contents="import os\n\n\ndef one():\n    return 1\n"
    )
    edit = "# ... existing code ...\ndef one():\n    return 2\n"
    assert await talk.ok("edit_file", target_file="f.py", code_edit=edit) == (
        "Edited f.py: 5 lines before, 5 now."
    )
    assert await contents(talk, "f.py") == "import os\n\n\ndef one():\n    return 2\n"
    await talk.ok("full_file_rewrite", file_path="f.py", file_contents="new\n")
    assert await contents(talk, "f.py") == "new\n"
    assert await talk.ok("delete_file", file_path="f.py") == "Deleted f.py."
    for tool, more in (
        ("delete_file", {}),
        ("full_file_rewrite", {"file_contents": ""}),
        ("str_replace", {"old_str": "a", "new_str": "b"}),
    ):
        code, message = await talk.failed(tool, file_path="f.py", **more)
        assert (code, "No such file" in message) == ("tool_error", True)


async def test_no_path_leads_out(talk: Talk, tmp_path: Path) -> None:
    """Not by dots, not by links of any kind, not by odd names."""
    secret = tmp_path / "secret"
    secret.write_text("the-secret")
    secret.chmod(0o666)
    for path in ("../x", "/etc/passwd", "a/../../x", "/workspace/../x"):
        code, _ = await talk.failed("create_file", file_path=path, file_contents="x")
        assert code == "invalid_arguments"
    await talk.ok(
        "execute_command", command=f"ln -s {secret} link; ln -s {tmp_path} folder; ln -s /etc e"
    )
    for tool, more in (
        ("create_file", {"file_contents": "changed"}),
        ("str_replace", {"old_str": "the-secret", "new_str": "changed"}),
        ("delete_file", {}),
    ):
        for path in ("link", "folder/secret", "e/passwd"):
            if (tool, path) == ("delete_file", "link"):
                continue  # which deletes the link
            await talk.failed(tool, file_path=path, **more)
    await talk.failed("create_file", file_path="folder/new", file_contents="x")
    assert secret.read_text() == "the-secret"
    assert {one.name for one in tmp_path.iterdir()} == {"data", "secret"}  # noqa: ASYNC240


async def test_names_are_taken_as_they_are(talk: Talk) -> None:
    """Dashes, spaces, quotes and dollar signs are letters."""
    for name in ("-rf", "a b", "$(touch hit)", "it's", '"', "*", "é\n"):
        await talk.ok("create_file", file_path=name, file_contents=name)
        await talk.ok("str_replace", file_path=name, old_str=name, new_str="done")
        await talk.ok("delete_file", file_path=name)
    assert (await talk.ok("execute_command", command="ls -A"))["output"] == ""


async def test_what_is_no_text_or_too_large_is_not_changed(talk: Talk) -> None:
    """The reason says which."""
    await talk.ok(
        "execute_command",
        command="head -c 100 /dev/urandom > b; head -c 5M /dev/zero > big; mkdir d",
    )
    for path, why in (("b", "no text"), ("big", "more than 4194304 bytes"), ("d", "a folder")):
        _, message = await talk.failed("str_replace", file_path=path, old_str="a", new_str="b")
        assert why in message


async def test_a_pipe_is_refused_at_once(talk: Talk) -> None:
    """Nobody waits for what never ends."""
    await talk.ok("execute_command", command="mkfifo pipe")
    for tool, more in (
        ("str_replace", {"old_str": "a", "new_str": "b"}),
        ("full_file_rewrite", {"file_contents": "x"}),
        ("edit_file", {"code_edit": "a\n... existing code ...\nb"}),
    ):
        where = "target_file" if tool == "edit_file" else "file_path"
        _, message = await talk.failed(tool, **{where: "pipe"}, **more)
        assert "no regular file" in message


async def test_a_link_stays_a_link(talk: Talk) -> None:
    """What it leads to is changed."""
    await talk.ok(
        "execute_command", command="mkdir d; echo one > d/f; ln -s d/f link; ln -s ../new d/later"
    )
    await talk.ok("str_replace", file_path="link", old_str="one", new_str="two")
    said = await talk.ok("execute_command", command="cat d/f; readlink link")
    assert said["output"] == "two\nd/f\n"
    assert (
        "already there"
        in (await talk.failed("create_file", file_path="d/later", file_contents="x"))[1]
    )


async def test_changes_at_the_same_time_undo_nothing(talk: Talk) -> None:
    """A model may change several places of a file in one breath."""
    await talk.ok("execute_command", command="seq 100 107 > f")
    async with asyncio.TaskGroup() as group:
        for number in range(100, 108):
            change = {"old_str": f"{number}", "new_str": f"{number} done"}
            group.create_task(talk.ok("str_replace", file_path="f", **change))
    said = await talk.ok("execute_command", command="cat f; ls -A")
    assert said["output"] == "".join(f"{n} done\n" for n in range(100, 108)) + "f\n"


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("execute_command", {"command": "echo \0"}),
        ("execute_command", {"command": "echo \ud800"}),
        ("create_file", {"file_path": "\ud800", "file_contents": "x"}),
        ("create_file", {"file_path": "a\0b", "file_contents": "x"}),
        ("create_file", {"file_path": "f", "file_contents": "\ud800"}),
        ("git_commit", {"message": "\0"}),
    ],
)
async def test_what_no_program_can_be_told(
    talk: Talk, tool: str, arguments: dict[str, str]
) -> None:
    """JSON can say it; it is the arguments' fault."""
    body = json.dumps({"arguments": arguments, "chat_id": talk.chat["id"]})
    answer = await talk.who.api.post(
        f"/api/v1/agents/{talk.agent}/tools/{tool}/call",
        content=body,
        headers={"Content-Type": "application/json"},
    )
    assert answer.status_code in {200, 400, 422}
    if answer.status_code == 200:
        assert answer.json()["error"]["code"] == "invalid_arguments"


FILE = (
    "import os\n\ndef one():\n    a = 1\n    return a\n\ndef two():\n    return 2\n\nprint(one())\n"
)


@pytest.mark.parametrize(
    ("edit", "expected"),
    [
        (
            "# ... existing code ...\ndef one():\n    a = 3\n    return a\n# ... existing code ...",
            FILE.replace("a = 1", "a = 3"),
        ),
        ("import sys\n# ... existing code ...\nprint(one())\nprint('end')", None),
        (
            "# ... existing code ...\ndef two():\n    return 4\n\nprint(one() + two())",
            FILE.replace("return 2", "return 4").replace("print(one())", "print(one() + two())"),
        ),
        (
            (
                "import os\nimport sys\n\ndef one():\n// ... existing code ...\n"
                "def two():\n    x = 2\n    return 2\n# ... existing code ..."
            ),
            FILE.replace("import os", "import os\nimport sys").replace(
                "def two():\n", "def two():\n    x = 2\n"
            ),
        ),
    ],
)
def test_edits_are_placed_by_the_lines_they_share(edit: str, expected: str | None) -> None:
    """A part goes where its first and last line are; what does not fit is refused."""
    if expected is None:
        with pytest.raises(InvalidArguments, match="'import sys' is not in the file"):
            merged(FILE, edit)
    else:
        assert merged(FILE, edit) == expected


@pytest.mark.parametrize(
    ("edit", "why"),
    [
        ("def one():\n    return 5\n", "no mark"),
        ("# ... existing code ...\n\n# ... existing code ...", "is there 3 times"),
        ("# ... existing code ...\nmissing\n# ... existing code ...", "is not in the file"),
    ],
)
def test_edits_that_could_go_anywhere_are_refused(edit: str, why: str) -> None:
    """Rather than losing what is there."""
    with pytest.raises(InvalidArguments, match=why):
        merged(FILE, edit)


@pytest.mark.parametrize(
    ("text", "edit", "expected"),
    [
        ("a\r\nb\r\nc\r\n", "a\nB\nb\n...existing code...", "a\r\nB\r\nb\r\nc\r\n"),
        ("a\r\nb\r\nc\r\n", "...existing code...\nb\nx\nc", "a\r\nb\r\nx\r\nc\r\n"),
        ("a\n\fb\nc\u2028d\x85\ne", "a\nz\nc\u2028d\n... existing code ...", "a\nz\nc\u2028d\ne"),
        ("a\r\nb\nc", "... existing code ...\nb\nx\nc", "a\r\nb\nx\nc"),
    ],
)
def test_nothing_but_the_edit_changes(text: str, edit: str, expected: str) -> None:
    """Line ends of another kind, form feeds and the like stay as they are."""
    assert merged(text, edit) == expected


def test_a_text_in_a_file_with_foreign_line_ends() -> None:
    """Models write plain ones."""
    assert replaced("a\r\nb\r\nc\r\n", "a\nb", "x\ny\nz") == "x\r\ny\r\nz\r\nc\r\n"
    assert replaced("a\nb\r\n", "b\r\n", "c\n") == "a\nc\n"


def test_large_edits_of_large_files_take_little() -> None:
    """The work grows with their size, not with its square."""
    lines = [f"line {number}" for number in range(100_000)]
    edit = "\n".join(f"line {n}\n... existing code ..." for n in range(0, 100_000, 20))
    before = time.process_time()
    assert merged("\n".join(lines), edit) == "\n".join(lines)
    with pytest.raises(InvalidArguments, match="no mark"):
        merged("x", " " * 400_000 + ".")
    assert time.process_time() - before < 20
