"""One call through the steps: whatever a tool does is a result that a model can read."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from toolcrib.errors import SecretMissing, SetupError, SourceTimeout
from toolcrib.identity.caller import Caller, ChatRef
from toolcrib.invocation.breaker import Breaker, Patience
from toolcrib.invocation.flight import Outcome, Request
from toolcrib.invocation.ids import new_call_id
from toolcrib.invocation.invoke import Invoker
from toolcrib.invocation.journal import CallEnd, CallStart
from toolcrib.invocation.running import Runner
from toolcrib.invocation.steps import standard_steps
from toolcrib.resolution.toolset import ResolvedTool
from toolcrib.storage import open_storage
from toolcrib.tools.call import Call, current_call
from toolcrib.tools.result import BlobPart, Output, TextPart
from toolcrib.tools.schema import ArgumentChecker
from toolcrib.tools.spec import Annotations, ToolSpec

CALLER = Caller(user_id=3, group_ids=frozenset({5}), group_id=5, chat=ChatRef(id=9, uuid="u-9"))
Body = Callable[[Call], Awaitable[Output]]


def tool(
    body: Body, *, schema: dict[str, Any] | None = None, read_only: bool = False
) -> ResolvedTool:
    spec = ToolSpec(
        name="probe",
        input_schema=schema or {"type": "object"},
        annotations=Annotations(read_only=read_only),
    )
    return ResolvedTool(
        name="probe",
        ref="native:code/probe",
        spec=spec,
        kind="native",
        code="code",
        capability_id=1,
        origin="dist",
        run=body,
        checker=ArgumentChecker(spec.input_schema),
    )


class Bench:
    """An invoker on a real journal, with what it recorded."""

    def __init__(self, journal: Any, runner: Runner, seconds: float = 60.0) -> None:
        self.journal = journal
        steps = standard_steps(
            journal=journal, runner=runner, call_timeout=seconds, result_limit=2000
        )
        self._invoker = Invoker(steps, clock=lambda: datetime.now(UTC), new_id=new_call_id)

    async def __call__(self, body: Body, arguments: object = None, **fields: Any) -> Outcome:
        request = Request(
            tool=tool(body, **fields),
            caller=CALLER,
            arguments=arguments,
            agent_id=7,
            surface="rest",
        )
        return await self._invoker.invoke(request)

    async def record(self, call_id: str) -> Any:
        await self.journal.flush()
        return await self.journal.find(call_id)


@pytest.fixture
async def bench(tmp_path: Any) -> AsyncIterator[Bench]:
    storage = await open_storage(f"sqlite:///{tmp_path}/t.db")
    runner = Runner()
    yield Bench(storage.journal, runner)
    await runner.close()
    await storage.close()


@pytest.fixture
def brief(bench: Bench) -> Bench:
    """One whose calls have a fifth of a second."""
    return Bench(bench.journal, Runner(), seconds=0.2)


class FailingJournal:
    """A real journal whose disk is full for as long as a test says so."""

    def __init__(self, journal: Any) -> None:
        self.broken = False
        self._journal = journal

    async def start(self, record: CallStart) -> None:
        if self.broken:
            raise SetupError("The database failed: disk is full")
        await self._journal.start(record)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._journal, name)


async def echo(call: Call) -> Output:
    return Output.of_text(f"got {dict(call.arguments)}")


async def test_a_call_reaches_the_tool_and_the_journal(bench: Bench) -> None:
    """The record holds who, what, from where, and how it ended."""
    outcome = await bench(echo, {"a": 1})

    record = await bench.record(outcome.call_id)
    assert (outcome.success, outcome.output.text) == (True, "got {'a': 1}")
    assert (record.user_id, record.group_id, record.agent_id, record.chat_id) == (3, 5, 7, 9)
    assert (record.tool, record.ref, record.surface) == ("probe", "native:code/probe", "rest")
    assert (record.arguments, record.success, record.error) == ({"a": 1}, True, None)
    assert 0 <= record.duration_ms <= outcome.duration_ms


async def test_bad_arguments_are_told_and_nothing_runs(bench: Bench) -> None:
    """The model gets the place; the tool is not called; the attempt is recorded."""
    ran: list[Call] = []

    async def body(call: Call) -> Output:
        ran.append(call)
        return Output.of_text("")

    schema = {"properties": {"n": {"type": "integer"}}, "required": ["n"]}
    outcome = await bench(body, {"n": "many"}, schema=schema)

    record = await bench.record(outcome.call_id)
    assert outcome.output.error is not None
    assert (outcome.output.error.code, ran) == ("invalid_arguments", [])
    assert (record.success, record.error["code"]) == (False, "invalid_arguments")


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (ValueError("no such matter"), "tool_error", "probe failed: ValueError: no such matter"),
        (SystemExit(3), "tool_error", "probe failed: SystemExit: 3"),
        (KeyboardInterrupt(), "tool_error", "probe failed: KeyboardInterrupt"),
        (asyncio.CancelledError(), "tool_error", "probe failed: it cancelled itself."),
        (SecretMissing("The setting 'K' has no value."), "secret_missing", "'K'"),
        (SourceTimeout("The upstream is silent."), "timeout", "silent"),
    ],
)
async def test_whatever_a_tool_raises_is_a_result(
    bench: Bench, error: BaseException, code: str, words: str
) -> None:
    """Not even SystemExit or a cancellation of its own gets past the call."""

    async def body(call: Call) -> Output:
        raise error

    outcome = await bench(body)

    assert outcome.output.error is not None
    assert outcome.output.error.code == code
    assert words in outcome.output.text
    assert "Traceback" not in outcome.output.text


async def test_a_hanging_tool_ends_at_the_deadline(brief: Bench) -> None:
    """The caller waits for the deadline, and not for the tool."""

    async def body(call: Call) -> Output:
        await asyncio.Event().wait()
        return Output.of_text("never")

    outcome = await brief(body)

    assert outcome.output.error is not None
    assert outcome.output.error.code == "timeout"
    assert outcome.duration_ms >= 199


async def test_a_tool_that_will_not_be_cancelled_is_left_behind(brief: Bench) -> None:
    """Swallowing the cancellation does not hold the caller."""
    release = asyncio.Event()

    async def body(call: Call) -> Output:
        while not release.is_set():
            try:
                await release.wait()
            except asyncio.CancelledError:
                continue
        return Output.of_text("late")

    outcome = await brief(body)
    release.set()

    assert outcome.output.error is not None
    assert outcome.output.error.code == "timeout"


async def test_cancelling_the_caller_cancels_the_tool_and_is_recorded(bench: Bench) -> None:
    """A client that goes away ends its call, and the journal says so."""
    seen: dict[str, str] = {}
    began = asyncio.Event()

    async def body(call: Call) -> Output:
        seen["id"] = call.call_id
        began.set()
        try:
            await asyncio.sleep(30)
        finally:
            seen["ended"] = "yes"
        return Output.of_text("")

    task = asyncio.ensure_future(bench(body))
    await began.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    record = await bench.record(seen["id"])
    assert seen["ended"] == "yes"
    assert (record.success, record.error["code"]) == (False, "cancelled")


async def test_a_huge_answer_is_cut_and_says_so(bench: Bench) -> None:
    """The text is cut at a character, a large structured value is left out."""

    async def body(call: Call) -> Output:
        return Output(parts=(TextPart("é" * 5000),), structured={"x": "y" * 5000})

    outcome = await bench(body)

    assert outcome.output.truncated
    assert outcome.output.structured is None
    assert outcome.output.text == "é" * 1000 + "\n[cut: 10000 bytes in all, 2000 shown]"
    assert (await bench.record(outcome.call_id)).truncated


async def test_a_large_file_is_named_not_cut(bench: Bench) -> None:
    """Half an image is no image."""

    async def body(call: Call) -> Output:
        return Output(parts=(TextPart("ok"), BlobPart("image", b"x" * 5000, "image/png")))

    outcome = await bench(body)

    assert outcome.output.parts == (TextPart("ok"), TextPart("[left out: image of 5000 bytes]"))


async def test_resolved_values_are_masked_everywhere(bench: Bench) -> None:
    """Text, structured value, error and journal are searched for what the call resolved."""

    async def body(call: Call) -> Output:
        call.secrets.add("s3cret-value")
        return Output(parts=(TextPart("token s3cret-value"),), structured={"t": "s3cret-value"})

    async def failing(call: Call) -> Output:
        call.secrets.add("s3cret-value")
        raise ValueError("denied for s3cret-value")

    good, bad = await bench(body), await bench(failing)

    assert (good.output.text, good.output.structured) == ("token ***", {"t": "***"})
    assert bad.output.text == "probe failed: ValueError: denied for ***"
    record = await bench.record(bad.call_id)
    assert "s3cret" not in str(record)


async def test_private_arguments_are_not_recorded(bench: Bench) -> None:
    """What a schema declares a password stays out of the journal and reaches the tool."""
    schema = {
        "properties": {"user": {"type": "string"}, "pw": {"type": "string", "format": "password"}}
    }

    outcome = await bench(echo, {"user": "ann", "pw": "hunter2"}, schema=schema)

    assert "hunter2" in outcome.output.text
    assert (await bench.record(outcome.call_id)).arguments == {"user": "ann", "pw": "***"}


async def test_context_of_a_tool_is_its_own(bench: Bench) -> None:
    """A tool sees its call, and what it sets in its context stays with it."""
    mark: contextvars.ContextVar[str] = contextvars.ContextVar("mark", default="outside")

    async def body(call: Call) -> Output:
        mark.set("inside")
        return Output.of_text(str(current_call.get() is call))

    outcome = await bench(body)

    assert (outcome.output.text, mark.get(), current_call.get()) == ("True", "outside", None)


class DeadJournal:
    """A journal whose disk is full."""

    async def start(self, record: CallStart) -> None:
        raise OSError("no space left")

    def note_start(self, record: CallStart) -> None: ...

    def end(self, record: CallEnd) -> None: ...


async def test_what_cannot_be_recorded_is_not_sent() -> None:
    """A call that may change something does not run when its start cannot be written."""
    ran: list[Call] = []

    async def body(call: Call) -> Output:
        ran.append(call)
        return Output.of_text("")

    bench = Bench(DeadJournal(), Runner())

    with pytest.raises(OSError, match="no space left"):
        await bench(body)
    assert ran == []


def test_call_ids_sort_by_time() -> None:
    """Newest last, and never the same twice."""
    ids = [new_call_id() for _ in range(2000)]

    assert len(set(ids)) == 2000
    assert [i[:17] for i in ids] == sorted(i[:17] for i in ids)
    assert {len(i) for i in ids} == {37}


async def test_a_trial_that_cannot_begin_leaves_the_trial_to_the_next(tmp_path: Any) -> None:
    """The journal's disk fails once, between the breaker's yes and the call itself."""
    now = [1000.0]
    breaker = Breaker(Patience(failures=1, pause=5), clock=lambda: now[0])
    storage = await open_storage(f"sqlite:///{tmp_path}/t.db")
    journal: Any = FailingJournal(storage.journal)
    steps = standard_steps(
        journal=journal, runner=Runner(), call_timeout=60, result_limit=2000, breaker=breaker
    )
    invoker = Invoker(steps, clock=lambda: datetime.now(UTC), new_id=new_call_id)
    well = False

    async def body(call: Call) -> Output:
        call.exchange.sent = call.exchange.answered = True
        call.exchange.failing = not well
        return Output.of_text("ok") if well else Output.failed("upstream_error", "503")

    probe = replace(tool(body), upstream="https://up.example")
    request = Request(tool=probe, caller=CALLER, arguments={})
    await invoker.invoke(request)
    now[0] += 5
    well, journal.broken = True, True
    with pytest.raises(SetupError):
        await invoker.invoke(request)
    journal.broken = False

    outcome = await invoker.invoke(request)

    await storage.close()
    assert (outcome.success, breaker.troubled) == (True, 0)
