"""Packages, secrets and previews by command: from a file to a call, and what may go wrong."""

from __future__ import annotations

import asyncio
import json
import shlex
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.support.environments import Job, Program, Result, make_program, run_many
from toolcrib.testing.replies import answer, json_answer
from toolcrib.testing.upstream import RecordingUpstream

FIND: dict[str, Any] = {
    "slug": "find_it",
    "name": "Find it",
    "type": "http",
    "config": {"url": "{{FIND_URL}}/find", "headers": {"X-Key": "{{FIND_KEY}}"}},
    "input_schema": {
        "type": "object",
        "properties": {"q": {"type": "string"}},
        "required": ["q"],
    },
}
KEY = "a-hidden-key-of-find"


@pytest.fixture
async def upstream() -> AsyncIterator[RecordingUpstream]:
    async with RecordingUpstream() as server:
        yield server


async def told(program: Program, allowed: str, *lines: str | tuple[str, str]) -> list[Result]:
    """Run lines one after the other; a pair is a line and what comes on its stdin."""
    environment = {"TOOLCRIB_EGRESS_ALLOW": allowed}
    jobs = [
        Job(
            arguments=shlex.split(line if isinstance(line, str) else line[0]),
            stdin="" if isinstance(line, str) else line[1],
            cwd=str(program.home),
            environment=environment,
        )
        for line in lines
    ]
    return await asyncio.to_thread(run_many, program, jobs)


def codes(results: Sequence[Result]) -> list[int]:
    return [one.code for one in results]


async def test_a_package_from_its_file_to_a_call(
    program: Program, upstream: RecordingUpstream
) -> None:
    """Installed, given its secrets, previewed with masks, tested, granted, called, taken away."""
    upstream.reply("/find", json_answer([1, 2]))
    (program.home / "find.json").write_text(json.dumps(FIND))

    results = await told(
        program,
        upstream.place,
        "packages install find.json",
        "packages list",
        'packages test find_it \'{"q": "x"}\' --json',
        ("secrets set FIND_KEY --host 127.0.0.1", KEY),
        ("secrets set FIND_URL", upstream.url("")),
        "secrets list --json",
        'packages test find_it \'{"q": "a b"}\'',
        "packages list",
        "agents create Reader --capability installed__find_it --json",
        'tools preview --agent 1 find_it \'{"q": "a b"}\'',
        'tools call --agent 1 find_it \'{"q": "c"}\' --json',
        "packages disable find_it",
        'tools call --agent 1 find_it \'{"q": "d"}\'',
        "packages enable find_it",
        "packages delete find_it --yes",
        "packages list",
    )

    assert codes(results) == [0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0], results
    installed, shown, tested, _, _, listed, _, shown_again, made, preview, called, *_ = results
    assert "installed__find_it" in installed.stdout
    assert "toolcrib secrets set FIND_KEY" in installed.stdout
    assert json.loads(tested.stdout)["error"]["code"] == "secret_missing"
    assert [
        (one["name"], one["status"], one["hosts"], one["used_by"])
        for one in json.loads(listed.stdout)["items"]
    ] == [
        ("FIND_KEY", "configured", ["127.0.0.1"], ["find_it"]),
        ("FIND_URL", "configured", [], ["find_it"]),
    ]
    assert json.loads(made.stdout)["capabilities"] == [1, "installed__find_it"]  # 1: the core tools
    assert "X-Key: ***" in preview.stdout
    assert "never tested" in shown.stdout
    assert "worked (" in shown_again.stdout
    assert json.loads(called.stdout)["structured"] == {"status": 200, "body": [1, 2]}
    assert [request.target for request in upstream.requests] == ["/find?q=a%20b", "/find?q=c"]
    assert upstream.requests[0].header("X-Key") == KEY
    assert [one for one in results if KEY in one.stdout + one.stderr] == []


async def test_what_is_there_is_replaced_on_purpose_only(program: Program) -> None:
    """A second install conflicts, `replace` changes it, and a preview says that it exists."""
    (program.home / "one.json").write_text(json.dumps(FIND))
    (program.home / "two.json").write_text(json.dumps({**FIND, "name": "Find more"}))
    (program.home / "none.json").write_text(json.dumps({"name": "x"}))

    results = await told(
        program,
        "",
        "packages install one.json",
        "packages install two.json",
        "packages preview two.json --json",
        "packages replace two.json",
        "packages show find_it --json",
        "packages replace none.json",
        "validate two.json --installed --json",
    )

    assert codes(results) == [0, 5, 0, 0, 0, 2, 6], results
    assert json.loads(results[2].stdout)["exists"] is True
    assert json.loads(results[4].stdout)["name"] == "Find more"
    assert [one["where"] for one in json.loads(results[6].stdout)["items"][0]["errors"]] == ["slug"]


async def test_a_package_from_an_address(program: Program, upstream: RecordingUpstream) -> None:
    """Toolcrib fetches it through its guard: previewed, installed; refused where that refuses."""
    upstream.reply("/find.json", json_answer({**FIND, "zest": 1}))
    upstream.reply("/twice.json", answer(body=b'{"slug": "a", "slug": "b"}'))

    previewed, installed, twice, missing = await told(
        program,
        upstream.place,
        f"packages preview {upstream.url('/find.json')} --json",
        f"packages install {upstream.url('/find.json')}",
        f"packages preview {upstream.url('/twice.json')}",
        "packages preview https://127.0.0.1:1/find.json",
    )

    assert codes([previewed, installed, twice, missing]) == [0, 0, 2, 8]
    assert json.loads(previewed.stdout)["ignored_fields"] == ["zest"]
    assert "line 1, column 15" in twice.stderr
    assert "127.0.0.1" in missing.stderr


async def test_a_bad_file_is_told_with_its_place(program: Program) -> None:
    """Line and column for what is no strict JSON, the field for what is no package."""
    (program.home / "twice.json").write_text('{"slug": "a",\n "slug": "b"}')
    (program.home / "list.json").write_text("[]")
    bad = {**FIND, "config": {"url": "https://x.example/{id}"}}
    (program.home / "slot.json").write_text(json.dumps(bad))
    (program.home / "slug.json").write_text(json.dumps({**FIND, "slug": "Bad-Slug"}))

    twice, listed, slot, slug = await told(
        program,
        "",
        "packages install twice.json",
        "packages install list.json",
        "packages preview slot.json",
        "packages install slug.json",
    )

    assert (twice.code, "line 2, column 2" in twice.stderr) == (2, True)
    assert (listed.code, "'list.json'" in listed.stderr) == (2, True)
    assert (slot.code, "config.url" in slot.stdout) == (6, True)
    assert (slug.code, "'Bad-Slug'" in slug.stderr) == (6, True)


async def test_a_capability_from_a_file(program: Program, upstream: RecordingUpstream) -> None:
    """The row stands in a file; what is said beside it wins; a preview of a blocked call fails."""
    row = {
        "name": "Weather",
        "code": "weather",
        "type": "api",
        "options": {"name": "get_weather", "url": upstream.url("/{city}")},
    }
    (program.home / "weather.json").write_text(json.dumps(row))

    made, _, preview, unnamed = await told(
        program,
        "",
        "capabilities create weather.json --name Forecast --json",
        "agents create Reader --capability weather",
        'tools preview --agent 1 get_weather \'{"city": "Oslo"}\' --json',
        "capabilities create other",
    )

    assert (made.code, json.loads(made.stdout)["name"]) == (0, "Forecast")
    assert (preview.code, json.loads(preview.stdout)["egress"]["allowed"]) == (8, False)
    assert (unnamed.code, "--name" in unnamed.stderr) == (2, True)
    assert upstream.requests == []


def check(program: Program, *documents: Any, name: str = "file") -> tuple[int, list[Any]]:
    """Validate documents, each in a file; returns the code and the items."""
    files: list[str] = []
    for number, document in enumerate(documents):
        path = Path(program.home, f"{name}{number}.json")
        path.write_text(document if isinstance(document, str) else json.dumps(document))
        files.append(str(path))
    done = program.run("validate", *files, "--json")
    return done.returncode, json.loads(done.stdout)["items"]


def test_validate_needs_no_installation(program: Program) -> None:
    """A good package passes, its secrets are listed, and nothing was made."""
    code, (item,) = check(program, FIND)
    assert (code, item["errors"], item["warnings"]) == (0, [], [])
    assert (item["kind"], item["name"], item["checked"]) == ("package", "find_it", True)
    assert item["secrets"] == ["FIND_KEY", "FIND_URL"]
    assert not program.data_dir.exists()


def test_validate_knows_what_the_operator_allows(tmp_path: Path) -> None:
    """As the installation would: with the variable that the warning names there is no warning."""
    package = {**FIND, "config": {"url": "http://127.0.0.1:8765/find"}}
    capability = {"name": "W", "code": "w", "type": "api", "options": package["config"]}
    program = make_program(tmp_path)
    code, items = check(program, package, capability)
    assert (code, [len(item["warnings"]) for item in items]) == (0, [1, 1])
    allowed = "TOOLCRIB_EGRESS_ALLOW=127.0.0.1:8765"
    assert all(allowed in item["warnings"][0]["message"] for item in items)

    told = replace(program, extra={"TOOLCRIB_EGRESS_ALLOW": "127.0.0.1:8765"})
    code, items = check(told, package, capability)
    assert (code, [item["warnings"] for item in items]) == (0, [[], []])


def test_validate_looks_at_every_file(program: Program) -> None:
    """Each has its own verdict; what is no JSON, and a slug given twice, are errors."""
    posting = {
        **FIND,
        "config": {
            "url": "https://x.example",
            "method": "POST",
            "headers": {"Authorization": "Bearer abc"},
            "body_template": {"q": "{q}", "r": "{typo}"},
        },
    }
    capability = {
        "name": "W",
        "code": "w",
        "type": "api",
        "options": {"url": "https://x.example/{a}", "headers": {"K": "${W_KEY}"}},
    }
    mcp = {
        "slug": "m",
        "name": "M",
        "type": "mcp_sse",
        "config": {"endpoint": "{{U}}", "tool_name": "t"},
    }
    code, items = check(program, FIND, posting, '{"a": 1,\n}', capability, mcp)
    found = [
        (item["kind"], [one["where"] for one in item["errors"]], len(item["warnings"]))
        for item in items[:4]
    ]
    assert code == 6
    assert found == [
        ("package", [], 0),
        ("package", ["config.headers.Authorization", "slug"], 2),
        ("unknown", ["line 2, column 1"], 0),
        ("capability", [], 0),
    ]
    assert items[4]["errors"] == []
    assert any("writes" in one["message"] for one in items[4]["warnings"])
    assert items[3]["settings"] == ["W_KEY"]


def test_validate_claims_nothing_that_it_does_not_check(program: Program) -> None:
    """A workflow, and a file of no known kind, are not checked, and the code says so."""
    code, items = check(program, {"name": "w", "stages": []}, {"colour": "red"})
    assert (code, [item["checked"] for item in items]) == (2, [False, False])
    assert [item["kind"] for item in items] == ["workflow", "unknown"]
