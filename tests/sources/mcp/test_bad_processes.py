"""Commands that behave badly: a call never hangs on one, and nothing of it stays."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.sources.mcp.conftest import SHORT, Bench, until
from tests.sources.mcp.test_stdio import files, mine
from tests.support.mcp_bad import ALLOW, program
from tests.support.mcp_script import Step, initialized, listed, result, said, tool
from toolcrib.errors import SourceError, SourceTimeout, SourceUnreachable

PATIENT = replace(SHORT, opening=60.0, listing=60.0, patience=60.0)


@pytest.fixture
def bench(make_bench: Callable[..., Bench]) -> Bench:
    return make_bench(PATIENT, allow=ALLOW)


def says(**methods: list[Step]) -> dict[str, Any]:
    return {"say": {name.replace("_", "/"): [steps] for name, steps in methods.items()}}


ENDS: dict[str, tuple[list[Step], str]] = {
    "well": ([{"exit": 0}], "ended with code 0"),
    "badly": ([{"exit": 7}], "ended with code 7"),
    "killed": ([{"kill": int(signal.SIGKILL)}], "ended with code -9"),
    "in a line": ([{"raw": '{"jsonrpc": "2.0", "id": '}, {"exit": 1}], "ended with code 1"),
    "with half an answer": ([said("x"), {"raw": '{"half'}, {"exit": 1}], ""),
    "silent": ([{"close": True}], "ended"),
}


@pytest.mark.parametrize("ends", ENDS)
@pytest.mark.parametrize("beside", ["", "stranger"])
async def test_a_server_that_ends_in_a_call_ends_it(
    bench: Bench, ends: str, beside: str, tmp_path: Path
) -> None:
    """At once, whoever else holds its pipes; and the next call starts it anew. One that lives on
    while another holds its output cannot be told from a slow one."""
    if (ends, beside) == ("silent", "stranger"):
        return
    steps, _ = ENDS[ends]
    script = {"does": [beside], "say": {"tools/call": [steps]}}
    upstream = await bench.upstream(program(script, tmp_path))
    await upstream.look()
    for _ in range(2):
        if ends == "with half an answer":
            assert (await bench.call(upstream, "t", deadline=60))[0].text == "x"
            await until(lambda: not upstream.is_connected)
            continue
        with pytest.raises(SourceUnreachable) as caught:
            await bench.call(upstream, "t", deadline=60)
        assert caught.value.sent is not False
    await bench.close()


@pytest.mark.parametrize("ends", [name for name in ENDS if name != "with half an answer"])
@pytest.mark.parametrize("where", ["server/discover", "initialize", "tools/list"])
async def test_a_server_that_ends_before_it_is_known_says_how(
    bench: Bench, ends: str, where: str, tmp_path: Path
) -> None:
    steps, words = ENDS[ends]
    script = {"say": {where: [steps]}}
    state = await (await bench.upstream(program(script, tmp_path))).look()
    assert state.error is not None
    assert state.error[0] == "unreachable"
    assert words in state.error[1]
    assert state.brief == "the server is away"
    await bench.close()


@pytest.mark.parametrize(
    "does",
    [
        ["ignore_term", "ignore_eof", "child"],
        ["deaf", "ignore_term"],
        ["loud", "ignore_term", "ignore_eof"],
    ],
    ids="+".join,
)
@pytest.mark.parametrize("when", ["at rest", "in a call", "failed"])
async def test_nothing_of_it_stays(
    bench: Bench, does: list[str], when: str, tmp_path: Path
) -> None:
    """Neither a process of its group nor an open file, whenever it is closed."""
    mark = f"bad-{os.getpid()}-{tmp_path.name}"
    say = {"tools/call": [[{"silence": True}]]}
    if when == "failed":
        say["tools/list"] = [[result({"tools": "none"})]]
    before = files()
    upstream = await bench.upstream(program({"does": does, "say": say}, tmp_path, MARK=mark))
    await upstream.look()
    if when == "in a call":
        with suppress(SourceError):
            await bench.call(upstream, "t", deadline=0.2)
    await bench.pool.forget("mcp:1")
    await until(lambda: not mine(mark))
    await until(lambda: files() <= before + 3)  # what the loop keeps for watching children
    await bench.close()


async def test_a_server_that_reads_nothing_holds_up_one_call(bench: Bench, tmp_path: Path) -> None:
    """Also one whose arguments are larger than a pipe; the call ends by its time."""
    upstream = await bench.upstream(program({"does": ["deaf"]}, tmp_path))
    assert (await upstream.look()).status == "connected"
    for size in (10, 4_000_000, 10):
        with pytest.raises((SourceTimeout, SourceUnreachable)) as caught:
            await bench.call(upstream, "t", {"s": "x" * size}, deadline=1.0)
        assert caught.value.sent is not False
    await bench.close()


@pytest.mark.parametrize("end", ["", "\n"])
async def test_a_line_that_is_too_long_ends_the_server(
    bench: Bench, end: str, tmp_path: Path
) -> None:
    """It is not kept; whoever waited is told, and the next call starts it anew."""
    long: Step = {"times": 17, "step": {"raw": "x" * 1024 * 1024}}
    script = {
        "say": {"tools/call": [[long, {"raw": end}, {"silence": True}]]},
    }
    upstream = await bench.upstream(program(script, tmp_path))
    await upstream.look()
    with pytest.raises(SourceUnreachable):
        await bench.call(upstream, "t", deadline=60)
    await bench.close()


async def test_an_answer_just_short_enough_comes_through(bench: Bench, tmp_path: Path) -> None:
    text = "x" * (15 * 1024 * 1024)
    script = {"say": {"tools/call": [[said(text)]]}}
    upstream = await bench.upstream(program(script, tmp_path))
    await upstream.look()
    output, _ = await bench.call(upstream, "t", deadline=60)
    assert output.text == text
    await bench.close()


async def test_what_it_says_on_stderr_is_never_in_the_way(bench: Bench, tmp_path: Path) -> None:
    """However much, with or without line ends."""
    upstream = await bench.upstream(program({"does": ["loud"]}, tmp_path))
    assert (await upstream.look()).status == "connected"
    for _ in range(20):
        assert (await bench.call(upstream, "t", {"a": 1}))[0].text == '{"a": 1}'
    await bench.close()


@pytest.mark.parametrize(
    "given",
    [
        initialized("1999-01-01"),
        initialized("2026-07-28"),
        initialized(None),
        initialized(5),
        {},
        {**initialized(), "capabilities": None},
        {**initialized(), "capabilities": []},
        {**initialized(), "serverInfo": None},
        {**initialized(), "serverInfo": "me"},
    ],
    ids=[
        "unknown version",
        "newer version",
        "no version",
        "number",
        "empty",
        "null capabilities",
        "list of capabilities",
        "nobody",
        "text",
    ],
)
async def test_a_handshake_that_cannot_be_read_fails_at_once(
    bench: Bench, given: Any, tmp_path: Path
) -> None:
    """With a reason, and without a process left over."""
    mark = f"shake-{os.getpid()}-{tmp_path.name}"
    script = says(initialize=[result(given)])
    state = await (await bench.upstream(program(script, tmp_path, MARK=mark))).look()
    assert state.error is not None
    assert state.error[0] == "upstream_error"
    await until(lambda: not mine(mark))
    await bench.close()


@pytest.mark.parametrize(
    "capabilities", [{}, {"tools": {}}, {"tools": {"listChanged": None}, "x": {"y": 1}}], ids=str
)
async def test_capabilities_are_a_hint(
    bench: Bench, capabilities: dict[str, Any], tmp_path: Path
) -> None:
    """What lists its tools has some, whatever it said."""
    script = says(
        initialize=[result(initialized(capabilities=capabilities))],
        tools_list=[listed(tool("t"))],
    )
    state = await (await bench.upstream(program(script, tmp_path))).look()
    assert list(state.tools.specs) == ["t"]
    await bench.close()
