"""What a tool returned and did not compute yet: waited for and collected, or a clear failure."""

from __future__ import annotations

import asyncio
import itertools
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import Future
from typing import Any

import pytest
from langchain_core.tools import BaseTool, StructuredTool

from tests.sources.native.calls import a_call, adapted, run
from toolcrib.invocation.running import Runner
from toolcrib.kit import Tool, ToolResult, openapi_schema
from toolcrib.resolution.toolset import ResolvedTool
from toolcrib.sources.native import lazy
from toolcrib.tools.schema import ArgumentChecker


def numbers(most: int = 3) -> Iterator[int]:
    """Some numbers."""
    yield from range(most)


async def slow_numbers(most: int = 3) -> AsyncIterator[int]:
    """Some numbers."""
    for number in range(most):
        await asyncio.sleep(0)
        yield number


def returns_generator() -> Any:
    """A function that is none itself."""
    return numbers()


async def returns_async_generator() -> Any:
    """A coroutine whose result is one."""
    return slow_numbers()


def returns_coroutine() -> Any:
    """Somebody forgot to await, twice."""

    async def inner() -> Any:
        return slow_numbers()

    return inner()


def returns_future() -> Any:
    """What an executor gives."""
    made: Future[list[int]] = Future()
    made.set_result([0, 1, 2])
    return made


def returns_iterator() -> Any:
    """A map is lazy too."""
    return map(int, "012")


LAZY: list[Callable[..., Any]] = [
    numbers,
    slow_numbers,
    returns_generator,
    returns_async_generator,
    returns_coroutine,
    returns_future,
    returns_iterator,
]


@pytest.mark.parametrize("function", LAZY, ids=lambda function: function.__name__)
@pytest.mark.parametrize("dress", [lambda f: f, StructuredTool.from_function], ids=["plain", "lc"])
async def test_it_is_collected(function: Callable[..., Any], dress: Callable[..., Any]) -> None:
    """As a function and as a LangChain tool: a list, in order."""
    output = await run(dress(function))

    assert (output.error, output.text, output.structured) == (None, "[0,1,2]", [0, 1, 2])


async def test_yielded_blocks_are_content() -> None:
    """A list of blocks is one, however it comes."""

    def blocks() -> Iterator[dict[str, str]]:
        """Two texts."""
        yield {"type": "text", "text": "a"}
        yield {"type": "text", "text": "b"}

    assert [part.text for part in (await run(blocks)).parts] == ["a", "b"]  # type: ignore[union-attr]


async def test_both_halves_are_waited_for() -> None:
    """Of a tool that answers with content and artifact."""
    tool = StructuredTool.from_function(
        lambda: (numbers(), numbers(2)),
        name="halves",
        description="Both.",
        response_format="content_and_artifact",
    )

    output = await run(tool)

    assert (output.text, output.structured) == ("[0,1,2]", [0, 1])


class Kit(Tool):
    """Methods that are lazy."""

    @openapi_schema({"type": "function", "function": {"name": "plain", "parameters": {}}})
    def plain(self) -> Any:
        return numbers()

    @openapi_schema({"type": "function", "function": {"name": "wrapped", "parameters": {}}})
    def wrapped(self) -> ToolResult:
        return self.success_response(numbers())  # type: ignore[arg-type]

    @openapi_schema({"type": "function", "function": {"name": "later", "parameters": {}}})
    async def later(self) -> Any:
        return slow_numbers()

    @openapi_schema({"type": "function", "function": {"name": "inside", "parameters": {}}})
    def inside(self) -> ToolResult:
        return self.success_response({"rows": numbers()})

    @openapi_schema({"type": "function", "function": {"name": "forgot", "parameters": {}}})
    def forgot(self) -> ToolResult:
        made = asyncio.sleep(0)
        try:
            return self.success_response({"rows": made})
        finally:
            made.close()

    @openapi_schema({"type": "function", "function": {"name": "thing", "parameters": {}}})
    def thing(self) -> ToolResult:
        return self.success_response(Thing())  # type: ignore[arg-type]


class Thing:
    """An object without words of its own."""


async def test_methods_of_the_kit() -> None:
    """Whether they return it or say it is their success."""
    from toolcrib.sources.native.adapting import Adapters

    made = Adapters().adapt_all(Kit(), "code")
    assert isinstance(made, tuple)
    said = {tool.spec.name: await tool.run(a_call()) for tool in made}

    assert [said[name].text for name in ("plain", "wrapped", "later")] == ["[0,1,2]"] * 3
    assert said["inside"].structured == {"rows": [0, 1, 2]}
    assert (said["forgot"].text, "await it" in said["forgot"].text) == (said["forgot"].text, True)
    assert said["forgot"].error is not None
    assert "returned a value of type Thing, which is neither text nor JSON" in said["thing"].text


class Entered(BaseTool):
    """A tool that brings its own way in."""

    name: str = "entered"
    description: str = "Its own way."

    def _run(self) -> Any:
        return Thing()

    def invoke(self, input: Any, config: Any = None, **kwargs: Any) -> Any:  # noqa: A002
        return super().invoke(input, config, **kwargs)


def _nested() -> Any:
    """A generator within JSON: nobody runs it by the way."""
    return {"rows": numbers()}


def _thing() -> Any:
    """An object of some class."""
    return Thing()


def _function() -> Any:
    """A function."""
    return {"f": numbers}


@pytest.mark.parametrize(
    ("tool", "said"),
    [
        (_thing, "_thing returned a value of type Thing, which is neither text nor JSON."),
        (_nested, "a value of type dict that holds one of generator, which is neither"),
        (_function, "a value of type dict that holds one of function, which is neither"),
        (Entered(), "entered returned a value of type Thing, which is neither"),
    ],
    ids=["object", "nested", "function", "langchain"],
)
async def test_an_address_is_no_result(tool: Any, said: str) -> None:
    """The failure names the tool and the type, and what its author should return."""
    output = await run(tool)

    assert output.error is not None
    assert (output.error.code, said in output.text, "0x" in output.text) == (
        "tool_error",
        True,
        False,
    )
    assert "return text, JSON, bytes or content blocks" in output.text


async def test_an_error_shows_no_address() -> None:
    """Though its message holds one."""

    def broken() -> None:
        """Fails."""
        raise TypeError(f"no use for {Thing()!r}")

    text = (await run(broken)).text
    assert ("0x" in text, "Thing object>" in text) == (False, True)


async def test_what_has_no_end_is_ended() -> None:
    """The model is told to ask for less."""
    output = await run(itertools_count)

    assert output.error is not None
    assert (output.error.code, str(lazy.MOST_ITEMS) in output.text) == ("too_large", True)


def itertools_count() -> Any:
    """All of them."""
    return itertools.count()


@pytest.mark.parametrize("kind", ["thread", "task"])
async def test_the_deadline_holds_and_the_generator_ends(kind: str) -> None:
    """One that is too slow is closed, so that what it holds is let go of."""
    closed = threading.Event()

    def slow() -> Iterator[int]:
        """Slowly."""
        try:
            for number in itertools.count():
                threading.Event().wait(0.01)
                yield number
        finally:
            closed.set()

    async def slow_too() -> AsyncIterator[int]:
        """Slowly."""
        try:
            for number in itertools.count():
                await asyncio.sleep(0.01)
                yield number
        finally:
            closed.set()

    native = adapted(slow if kind == "thread" else slow_too)
    tool = ResolvedTool(
        name="slow",
        ref="native:code/slow",
        spec=native.spec,
        kind="native",
        code="code",
        capability_id=None,
        origin="",
        run=native.run,
        checker=ArgumentChecker(native.spec.input_schema),
    )
    runner = Runner()
    call = a_call()
    output = await runner.run(
        tool, type(call)(call_id="c", arguments={}, caller=call.caller, deadline=0.1, checked=True)
    )
    await runner.close()

    assert output.error is not None
    assert output.error.code == "timeout"
    assert await asyncio.to_thread(closed.wait, 60)
