"""Agents make and change files in their workspace, and reach no other."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.chatting import Talk
from toolcrib.builtin.sandbox.merging import merged
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
