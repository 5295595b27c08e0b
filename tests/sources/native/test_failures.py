"""Whatever a tool raises is a result; only real cancellation and the host's refusals pass."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from langchain_core.tools import BaseTool, StructuredTool, ToolException

from tests.sources.native.calls import a_call, adapted, run
from toolcrib.errors import NotGranted
from toolcrib.tools.result import Output


class Odd(BaseException):
    """Neither Exception nor one of Python's own."""


class Mute(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


def _forms(error: BaseException) -> list[Callable[[], Awaitable[Output]]]:
    """The same failure as function, async function, LangChain tool of both kinds, tool class."""

    def fails() -> None:
        raise error

    async def fails_async() -> None:
        raise error

    class Failing(BaseTool):
        name: str = "fails"
        description: str = "d"

        def _run(self) -> None:
            raise error

    class FailingAsync(Failing):
        async def _arun(self) -> None:
            raise error

    fails_async.__name__ = "fails"
    options: dict[str, Any] = {"name": "fails", "description": "d"}
    return [
        lambda: run(fails),
        lambda: run(fails_async),
        lambda: run(StructuredTool.from_function(func=fails, **options)),
        lambda: run(StructuredTool.from_function(coroutine=fails_async, **options)),
        lambda: run(Failing()),
        lambda: run(FailingAsync()),
    ]


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (ValueError("wrong"), "fails failed: ValueError: wrong"),
        (RuntimeError(), "fails failed: RuntimeError"),
        (ToolException("sorry"), "fails failed: ToolException: sorry"),
        (SystemExit(3), "fails failed: SystemExit: 3"),
        (Odd("x"), "fails failed: Odd: x"),
        (Mute(), "fails failed: Mute"),
        (TimeoutError("slow"), "fails failed: TimeoutError: slow"),
        (
            ExceptionGroup("many", [ValueError("a")]),
            "fails failed: ExceptionGroup: many (1 sub-exception)",
        ),
    ],
    ids=lambda v: type(v).__name__ if isinstance(v, BaseException) else "",
)
async def test_an_exception_is_a_failed_output(error: BaseException, text: str) -> None:
    """Type and message, no traceback, from every kind of tool; the process lives."""
    for form in _forms(error):
        output = await form()
        assert output.error is not None
        assert (output.error.code, output.text) == ("tool_error", text)


async def test_a_tool_that_cancels_itself_failed() -> None:
    """A CancelledError nobody asked for is the tool's own, sync or async."""
    outputs = [await form() for form in _forms(asyncio.CancelledError("me"))]
    assert [output.error is not None for output in outputs] == [True] * 6
    assert {output.error.code for output in outputs if output.error} == {"tool_error"}


async def test_signals_raised_in_a_thread_are_the_tools_own() -> None:
    """KeyboardInterrupt in a worker thread is no Ctrl-C; StopIteration does not hang the call."""
    for error in (KeyboardInterrupt(), GeneratorExit(), StopIteration("x")):

        def fails(error: BaseException = error) -> None:
            raise error

        fails.__signature__ = __import__("inspect").Signature()  # type: ignore[attr-defined]
        output = await asyncio.wait_for(run(fails), 60)
        assert output.error is not None
        assert output.text.startswith("fails failed: RuntimeError")


async def test_real_cancellation_passes_through() -> None:
    """The caller cancelled: the tool is told, and the task ends cancelled."""
    told: list[str] = []
    begun = asyncio.Event()

    async def waits() -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            told.append("cancelled")
            raise

    task = asyncio.create_task(run(waits))
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert told == ["cancelled"]


async def test_the_hosts_refusals_keep_their_code() -> None:
    """Errors of ours go to whoever runs the call, which knows their code."""

    async def asks() -> None:
        raise NotGranted("not yours")

    with pytest.raises(NotGranted, match="not yours"):
        await adapted(asks).run(a_call())


async def test_the_log_names_the_place_and_not_the_message(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A message may hold a secret; masking happens to results, not to logs."""

    async def leaks() -> None:
        raise ValueError("hunter2")

    with caplog.at_level(logging.DEBUG):
        await run(leaks)
    assert "hunter2" not in caplog.text
    assert f"tool 'leaks' raised ValueError at {__file__}" in caplog.text


async def test_a_huge_message_is_cut() -> None:
    """The reason is for a model to read."""

    async def shouts() -> None:
        raise ValueError("A" * 1_000_000)

    output = await run(shouts)
    assert len(output.text) < 5000
    assert output.text.endswith("…")
