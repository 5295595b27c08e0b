"""This module runs a tool so that nothing it does can hurt its caller.

A call runs in a task of its own: a tool that ignores its deadline is left behind and reported, one
that changes context variables changes only its own, one that raises anything at all gives a failed
Output. Only tools of our own sources, which promise to behave, run in their caller's task.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from traceback import format_tb

import structlog

from toolcrib.errors import CallError, SourceError, ToolcribError
from toolcrib.resolution.toolset import ResolvedTool
from toolcrib.tools.addresses import without_addresses
from toolcrib.tools.call import Call, current_call
from toolcrib.tools.result import ERROR_CODES, ErrorCode, Output

_log = structlog.get_logger(__name__)
GRACE = 1.0
"""Seconds that a cancelled tool has to clean up before it is left behind."""


class Runner:
    """Runs tools and knows those that would not end."""

    def __init__(self) -> None:
        self._left_behind: set[asyncio.Task[Output]] = set()

    def run(self, tool: ResolvedTool, call: Call) -> Awaitable[Output]:
        """The tool's Output, or a failed one after `call.deadline` seconds.

        Cancelling this cancels the tool.
        """
        return _at_hand(tool, call) if tool.prompt else self._watched(tool, call)

    async def _watched(self, tool: ResolvedTool, call: Call) -> Output:
        loop = asyncio.get_running_loop()
        task = loop.create_task(_guarded(tool, call))
        # What asyncio.wait does, for one task: every call comes through here.
        over: asyncio.Future[None] = loop.create_future()
        task.add_done_callback(lambda _: _wake(over))
        timer = loop.call_later(call.deadline, _wake, over)
        try:
            await over
        except asyncio.CancelledError:
            await self._end(task, tool, call)
            raise
        finally:
            timer.cancel()
        if task.done():
            return task.result()
        await self._end(task, tool, call)
        return _too_late(tool, call)

    async def close(self) -> None:
        """Cancel what was left behind and wait a moment for it."""
        tasks = list(self._left_behind)
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=GRACE)

    async def _end(self, task: asyncio.Task[Output], tool: ResolvedTool, call: Call) -> None:
        task.cancel()
        done, _ = await asyncio.wait({task}, timeout=GRACE)
        if not done:
            _log.warning("tool left behind", tool=tool.name, ref=tool.ref, call_id=call.call_id)
            self._left_behind.add(task)
            task.add_done_callback(self._left_behind.discard)


def _wake(over: asyncio.Future[None]) -> None:
    if not over.done():
        over.set_result(None)


async def _at_hand(tool: ResolvedTool, call: Call) -> Output:
    """Run it here: a task, a context and a timer of its own would cost more than all else."""
    try:
        return await tool.run(call)
    except ToolcribError as error:
        return failed_by(error)
    except Exception as error:  # noqa: BLE001 - a mistake of ours must not end the agent's run
        # Neither the error's text nor variables: both may hold what must not be logged.
        trace = "".join(format_tb(error.__traceback__))
        kind = type(error).__name__
        _log.error("source raised", tool=tool.name, ref=tool.ref, error=kind, trace=trace)
        return Output.failed("internal", f"{tool.name} failed: {kind}.")


async def _guarded(tool: ResolvedTool, call: Call) -> Output:
    current_call.set(call)
    try:
        return await tool.run(call)
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise
        return Output.failed("tool_error", f"{tool.name} failed: it cancelled itself.")
    except ToolcribError as error:
        return failed_by(error)
    except (Exception, SystemExit, KeyboardInterrupt, GeneratorExit) as error:  # noqa: BLE001 - a tool may raise anything
        _log.warning("tool raised", tool=tool.name, ref=tool.ref, error=type(error).__name__)
        return Output.failed("tool_error", f"{tool.name} failed: {_words(error)}")


def _too_late(tool: ResolvedTool, call: Call) -> Output:
    return Output.failed("timeout", f"{tool.name} did not answer within {call.deadline:g} seconds.")


def failed_by(error: ToolcribError) -> Output:
    """One of our errors as a result that a model can read."""
    code: ErrorCode = "internal"
    if error.code in ERROR_CODES:
        code = error.code  # type: ignore[assignment]
    elif isinstance(error, CallError | SourceError):
        code = "tool_error"
    return Output.failed(code, str(error))


def _words(error: BaseException) -> str:
    text = without_addresses(str(error).strip())
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
