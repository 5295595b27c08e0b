"""Servers that speak the protocol badly: a call gets its own answer, and never another's."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.sources.mcp.conftest import SHORT, Bench
from tests.support.mcp_bad import ALLOW, STDIO, TALKING, WAYS, serving
from tests.support.mcp_script import Step, listed, notice, refusal, result, said, tool
from toolcrib.errors import SourceError, SourceTimeout
from toolcrib.sources.mcp.upstream import Upstream
from toolcrib.tools.result import Output

SHARED = (*STDIO, "sse")
PATIENT = replace(SHORT, opening=60.0, listing=60.0, patience=60.0)
every_way = pytest.mark.parametrize("way", WAYS)
ONE = listed(tool("t"))


@pytest.fixture
def bench(make_bench: Callable[..., Bench]) -> Bench:
    return make_bench(PATIENT, allow=ALLOW)


async def called(
    bench: Bench, way: str, *answers: list[Step], folder: Path, deadline: float = 60.0
) -> list[Output]:
    """What calls give, one after the other, of a server that answers them so."""
    script = {"say": {"tools/call": list(answers)}}
    async with serving(way, script, folder) as server:
        upstream = await bench.upstream(server)
        assert (await upstream.look()).status == "connected"
        outputs = [(await bench.call(upstream, "t", deadline=deadline))[0] for _ in answers]
        await bench.close()
    return outputs


async def failures(
    bench: Bench, way: str, bad: Mapping[str, Step], folder: Path
) -> dict[str, bool]:
    """Whether a call that is answered so fails, and the next one is well."""
    answers = [[step] for one in bad.values() for step in (one, said("right"))]
    found: dict[str, bool] = {}
    async with serving(way, {"say": {"tools/call": answers}}, folder) as server:
        upstream = await bench.upstream(server)
        await upstream.look()
        for name in bad:
            failed = await fails(bench, upstream)
            found[name] = failed and (await bench.call(upstream, "t"))[0].text == "right"
        await bench.close()
    return found


async def fails(bench: Bench, upstream: Upstream) -> bool:
    """Whether a call fails, and nobody takes it for one that surely did nothing."""
    try:
        output, call = await bench.call(upstream, "t", deadline=0.5)
    except SourceError as error:
        return error.sent is not False
    return not output.success and call.exchange.sent is True


def line(text: str) -> Step:
    return {"raw": f"{text}\n"}


def bytes_(data: bytes) -> Step:
    return {"base64": base64.b64encode(data).decode()}


NOISE: dict[str, list[Step]] = {
    "banner": [line("Server v1.2 listening on stdio"), line("=" * 200)],
    "blank": [line(""), line("   "), line("\r")],
    "log": [line('{"level": "info", "msg": "ready"}'), line("[2026-01-01] ready")],
    "half": [line('{"jsonrpc": "2.0", "id": '), line('{"jsonrpc"')],
    "colours": [line("\x1b[32mok\x1b[0m")],
    "values": [line("1"), line("null"), line('"text"'), line("[]"), line("{}"), line("true")],
    "no UTF-8": [bytes_(b"caf\xe9 \xff\xfe\n")],
    "nothing": [bytes_(b"\0\0\0\n")],
    "frames": [line("Content-Length: 52\r"), line("\r")],
    "deep": [line("[" * 100_000), line('{"a":' * 100_000)],
    "wide": [line("x" * 1_000_000)],
    "older": [line('{"jsonrpc": "1.0", "id": 1, "result": {}}')],
}


@pytest.mark.parametrize("way", STDIO)
async def test_what_is_printed_beside_is_passed_over(
    bench: Bench, way: str, tmp_path: Path
) -> None:
    """Before the first message, and around each answer."""
    noise = [step for steps in NOISE.values() for step in steps]
    calls = [[*beside, said(name), *beside] for name, beside in NOISE.items()]
    say = {"tools/list": [[*noise, ONE, *noise]], "tools/call": calls}
    async with serving(way, {"say": say, "first": noise}, tmp_path) as server:
        upstream = await bench.upstream(server)
        assert list((await upstream.look()).tools.specs) == ["t"]
        assert [(await bench.call(upstream, "t"))[0].text for _ in NOISE] == list(NOISE)
        await bench.close()


RIGHT = '{"content": [{"type": "text", "text": "right"}], "resultType": "complete"}'


def answers_to_all(before: str, after: str) -> list[Step]:
    """An id is a number that counts from one: which it is here nobody knows."""
    return [
        {"raw": f'{before}{{"jsonrpc": "2.0", "id": {n}, "result": {RIGHT}}}{after}'}
        for n in range(20)
    ]


@pytest.mark.parametrize("way", STDIO)
async def test_lines_may_begin_and_end_as_they_like(bench: Bench, way: str, tmp_path: Path) -> None:
    """With the line ends of another system, blanks, blank lines, a mark of the byte order."""
    around = [("", "\r\n"), ("  ", "\n"), ("\n\n", "\n\n"), ("\ufeff", "\n")]
    answers = [answers_to_all(before, after) for before, after in around]
    outputs = await called(bench, way, *answers, folder=tmp_path, deadline=30.0)
    assert [output.text for output in outputs] == ["right"] * len(around)


WRONG: dict[str, Step] = {
    "another": result({"content": [{"type": "text", "text": "wrong"}]}, id="$other"),
    "none": result({"content": [{"type": "text", "text": "wrong"}]}, id=None),
    "huge": result({"content": [{"type": "text", "text": "wrong"}]}, id=10**30),
    "negative": result({"content": [{"type": "text", "text": "wrong"}]}, id=-1),
    "a list": result({"content": [{"type": "text", "text": "wrong"}]}, id=[1]),
    "an object": result({"content": [{"type": "text", "text": "wrong"}]}, id={"a": 1}),
    "an error": {**refusal(-32603, "wrong"), "id": "$other"},
    "an error for all": {**refusal(-32700, "wrong"), "id": None},
}


@pytest.mark.parametrize("way", SHARED)
async def test_an_answer_to_nothing_is_passed_over(bench: Bench, way: str, tmp_path: Path) -> None:
    """Where one channel carries all answers."""
    answers = [[wrong, said("right")] for wrong in WRONG.values()]
    outputs = await called(bench, way, *answers, folder=tmp_path)
    assert [output.text for output in outputs] == ["right"] * len(WRONG)


@pytest.mark.parametrize("way", [*SHARED, "plain"])
async def test_only_a_wrong_answer_is_no_answer(bench: Bench, way: str, tmp_path: Path) -> None:
    """It fails, at once or by its time; it never counts as this call's result."""
    assert await failures(bench, way, WRONG, tmp_path) == dict.fromkeys(WRONG, True)


@every_way
async def test_an_id_may_come_back_as_text(bench: Bench, way: str, tmp_path: Path) -> None:
    """Some servers make text of every id: it is the same one."""
    answer = [{**said("right"), "id": "$text"}]
    [output] = await called(bench, way, answer, folder=tmp_path)
    assert output.text == "right"


@pytest.mark.parametrize("way", TALKING)
async def test_a_second_answer_is_passed_over(bench: Bench, way: str, tmp_path: Path) -> None:
    twice = [said("first"), said("second")]
    outputs = await called(bench, way, twice, [said("third")], folder=tmp_path)
    assert [output.text for output in outputs] == ["first", "third"]


@pytest.mark.parametrize("way", STDIO)
async def test_a_late_answer_is_nobodys(bench: Bench, way: str, tmp_path: Path) -> None:
    """The call that waited for it is over; the next one gets its own."""
    script = {
        "say": {"tools/call": [[{"wait": 1.5}, said("late")], [{"wait": 2.0}, said("right")]]}
    }
    async with serving(way, script, tmp_path) as server:
        upstream = await bench.upstream(server)
        await upstream.look()
        with pytest.raises(SourceTimeout):
            await bench.call(upstream, "t", deadline=1.0)
        assert (await bench.call(upstream, "t"))[0].text == "right"
        await bench.close()


@pytest.mark.parametrize("way", STDIO)
async def test_answers_may_come_in_batches(bench: Bench, way: str, tmp_path: Path) -> None:
    """As a version of the protocol allowed: each message in it counts."""
    batch = '[{"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info"}}'
    answers = "".join(f',{{"jsonrpc": "2.0", "id": {n}, "result": {RIGHT}}}' for n in range(20))
    [output] = await called(bench, way, [line(f"{batch}{answers}]")], folder=tmp_path)
    assert output.text == "right"


BESIDE: dict[str, list[Step]] = {
    "progress of nothing": [notice("notifications/progress", progressToken="x", progress=1)],
    "odd progress": [
        notice("notifications/progress", progressToken="$token", progress="half"),
        notice("notifications/progress", progressToken=None, progress=1),
        notice("notifications/progress"),
    ],
    "logs": [notice("notifications/message", level="info", data={"a": 1})],
    "odd logs": [
        notice("notifications/message", level="loud", data=1),
        notice("notifications/message"),
    ],
    "news": [notice("notifications/tools/list_changed")] * 3,
    "what is not ours": [
        notice("notifications/resources/updated", uri="x:y"),
        notice("notifications/prompts/list_changed"),
        notice("notifications/unheard/of", a=[1]),
        notice("notifications/cancelled", requestId="$other"),
    ],
    "requests": [
        {"jsonrpc": "2.0", "id": "s1", "method": "ping"},
        {"jsonrpc": "2.0", "id": "s2", "method": "roots/list"},
        {"jsonrpc": "2.0", "id": 7, "method": "unheard/of", "params": {}},
        {
            "jsonrpc": "2.0",
            "id": "s3",
            "method": "sampling/createMessage",
            "params": {"messages": [], "maxTokens": 1},
        },
    ],
    "odd requests": [
        {"jsonrpc": "2.0", "id": "s4", "method": "elicitation/create", "params": {}},
        {"jsonrpc": "2.0", "id": "s5", "method": "sampling/createMessage"},
        {"jsonrpc": "2.0", "id": None, "method": "ping"},
        {"jsonrpc": "2.0", "id": "$id", "method": "ping"},
    ],
}


@pytest.mark.parametrize("way", TALKING)
async def test_what_is_said_beside_an_answer_harms_none(
    bench: Bench, way: str, tmp_path: Path
) -> None:
    """Before it and after it, asked or not."""
    answers = [[*beside, said(name), *beside] for name, beside in BESIDE.items()]
    outputs = await called(bench, way, *answers, [said("again")], folder=tmp_path)
    assert [output.text for output in outputs] == [*BESIDE, "again"]


@every_way
async def test_half_a_character_does_not_lose_an_answer(
    bench: Bench, way: str, tmp_path: Path
) -> None:
    """The text comes through with a sign in its place."""
    step = said("x")
    step["result"]["content"][0]["text"] = "half \ud83d a character"
    [output] = await called(bench, way, [step], folder=tmp_path, deadline=20.0)
    assert output.text == "half \N{REPLACEMENT CHARACTER} a character"


REFUSALS: dict[str, Step] = {
    "text": {"jsonrpc": "2.0", "id": "$id", "error": "quota"},
    "null": {"jsonrpc": "2.0", "id": "$id", "error": None},
    "empty": {"jsonrpc": "2.0", "id": "$id", "error": {}},
    "no code": {"jsonrpc": "2.0", "id": "$id", "error": {"message": "quota"}},
    "no words": {"jsonrpc": "2.0", "id": "$id", "error": {"code": -32000}},
    "code of text": refusal("E_QUOTA", "quota"),
    "code of a broken number": refusal(1.5, "quota"),
    "huge code": refusal(10**30, "quota"),
    "words of a number": refusal(-32000, 5),
    "odd data": refusal(-32000, "quota", data=[{"a": None}]),
    "in our name": refusal(-32099, "quota", data={"toolcrib": {"code": "x", "sent": False}}),
    "neither": {"jsonrpc": "2.0", "id": "$id"},
    "both": {**said("right"), "error": {"code": -32000, "message": "quota"}},
    "result of nothing": result(None),
    "result of text": result("done"),
    "result of a list": result([1, 2]),
    "no version": {"id": "$id", "result": {"content": []}},
}


@every_way
async def test_an_answer_that_is_none_fails_its_call_alone(
    bench: Bench, way: str, tmp_path: Path
) -> None:
    """At once where it can be read, by the call's time where not; the next call is well."""
    assert await failures(bench, way, REFUSALS, tmp_path) == dict.fromkeys(REFUSALS, True)


async def test_very_long_words_are_cut(bench: Bench, tmp_path: Path) -> None:
    """Of a server that cannot be listed the reason stays readable."""
    script: dict[str, Any] = {"say": {"tools/list": [[refusal(-32000, "very " * 1_000_000)]]}}
    async with serving("http", script, tmp_path) as server:
        state = await (await bench.upstream(server)).look()
        await bench.close()
    assert state.error is not None
    assert state.error[1].startswith("very very")
    assert len(state.error[1]) < 2000
