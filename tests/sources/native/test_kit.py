"""Kit classes as native tools: one offer for each method, ordered, with what people are shown."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from tests.sources.native.calls import a_call, refused
from toolcrib import annotations
from toolcrib.kit import (
    Tool,
    ToolRegistry,
    ToolResult,
    method_metadata,
    openapi_schema,
    param,
    tool_metadata,
)
from toolcrib.plugin.registration import Registry
from toolcrib.sources.native.adapting import Adapters
from toolcrib.sources.native.kit import outcome_of
from toolcrib.sources.native.shelf import NativeShelf
from toolcrib.tools.presentation import Presentation, presentation_of
from toolcrib.tools.result import Output
from toolcrib.tools.source import Bundle


@tool_metadata("Clock", "Tells the time", icon="clock", color="red", weight=10, visible=True)
class ClockTool(Tool):
    def __init__(self, zone: str = "UTC") -> None:
        super().__init__()
        self.zone = zone

    @annotations(read_only=True)
    @openapi_schema(name="read_clock", description="Read the clock")
    @param("style", "string", "How", enum=["short", "long"])
    async def read(self, style: str = "short") -> ToolResult:
        return self.success_response({"zone": self.zone, "style": style})

    @method_metadata("Wind", "Winds it", is_core=True, visible=False)
    @openapi_schema(name="wind_clock", description="Wind it")
    def wind(self) -> ToolResult:
        return self.fail_response("the spring broke")


@tool_metadata("Heavy", "Comes last", weight=200, is_core=True)
class HeavyTool(Tool):
    @openapi_schema(name="lift", description="Lift")
    async def lift(self) -> str:
        return "lifted"


class PlainTool(Tool):
    @openapi_schema(name="nod", description="Nod")
    async def nod(self) -> None:
        return None


class NeedyTool(PlainTool):
    def __init__(self, key: str) -> None:
        super().__init__()


class EmptyTool(Tool):
    pass


def function() -> str:
    """A function between."""
    return "f"


def bundle(*tools: Any) -> Bundle:
    registry = Registry()
    registry.register_tools("kit", list(tools), name="Kit")
    found = NativeShelf(registry).bundle("kit")
    assert found is not None
    return found


def test_every_method_is_an_offer() -> None:
    """With its own name, description and schema."""
    offers = bundle(ClockTool).offers
    assert [(o.spec.name, o.spec.description) for o in offers] == [
        ("read_clock", "Read the clock"),
        ("wind_clock", "Wind it"),
    ]
    assert offers[0].spec.input_schema == {
        "type": "object",
        "properties": {
            "style": {"type": "string", "description": "How", "enum": ["short", "long"]}
        },
        "required": [],
    }
    assert [o.spec.read_only for o in offers] == [True, False]


def test_the_lowest_weight_stands_first() -> None:
    """Then registration; a tool that says nothing weighs 100."""
    offers = bundle(HeavyTool, function, PlainTool, ClockTool).offers
    names = [offer.spec.name for offer in offers]
    assert names == ["read_clock", "wind_clock", "function", "nod", "lift"]


def test_what_people_are_shown() -> None:
    """Kept beside the definition, for lists."""
    shown = {o.spec.name: presentation_of(o.spec) for o in bundle(ClockTool, HeavyTool).offers}
    clock = Presentation(
        display_name="Read Clock",
        group="Clock",
        icon="clock",
        color="red",
        weight=10,
        groups=[],
        method="read",
    )
    wind = dataclasses.replace(
        clock, display_name="Wind", visible=False, is_core=True, method="wind"
    )
    heavy = Presentation(
        display_name="Lift",
        group="Heavy",
        weight=200,
        visible=False,
        is_core=True,
        groups=[],
        method="lift",
    )
    assert shown == {"read_clock": clock, "wind_clock": wind, "lift": heavy}
    (plain,) = bundle(function).offers
    assert presentation_of(plain.spec) == Presentation()


async def test_calls_of_a_class_and_of_an_instance() -> None:
    """A class has one instance; an instance given is the one that is called."""
    read = bundle(ClockTool).offers[0]
    assert await read.run(a_call()) == Output.of_text(
        '{"zone":"UTC","style":"short"}', structured={"zone": "UTC", "style": "short"}
    )
    read, wind = bundle(ClockTool("CET")).offers
    output = await read.run(a_call({"style": "long"}))
    assert output.structured == {"zone": "CET", "style": "long"}
    assert await wind.run(a_call()) == Output.failed("tool_error", "the spring broke")


async def test_a_class_has_the_instance_of_a_tool_registry() -> None:
    """The same that `register_tool` without arguments uses."""
    registry = ToolRegistry()
    registry.register_tool(ClockTool)
    registry.tools["read_clock"]["instance"].zone = "shared"
    try:
        output = await bundle(ClockTool).offers[0].run(a_call())
    finally:
        registry.tools["read_clock"]["instance"].zone = "UTC"
    assert output.structured == {"zone": "shared", "style": "short"}


async def test_other_results() -> None:
    """What is no ToolResult is a result like any tool's."""
    (lift,) = bundle(HeavyTool).offers
    (nod,) = bundle(PlainTool).offers
    assert await lift.run(a_call()) == Output.of_text("lifted")
    assert await nod.run(a_call()) == Output.of_text("")


def test_results_made_by_hand() -> None:
    """A ToolResult's output may be a value; a failure always has words."""
    good = outcome_of(ToolResult(True, {"a": 1}), tool="t")
    assert (good.text, good.structured) == ('{"a":1}', {"a": 1})
    bad = outcome_of(ToolResult(False, {"why": "x"}), tool="t")
    assert (bad.text, bad.structured, bad.success) == ('{"why":"x"}', {"why": "x"}, False)
    assert outcome_of(ToolResult(False, None), tool="t").text == "t failed."


async def test_arguments_are_checked_where_nobody_checked_them() -> None:
    """A source that is called by itself still refuses what does not fit."""
    output = await bundle(ClockTool).offers[0].run(a_call({"style": "loud"}))
    assert output.success is False
    assert output.text.startswith("Invalid arguments: style")


@pytest.mark.parametrize(
    ("obj", "reason"),
    [
        (EmptyTool, "none of its methods has a schema"),
        (NeedyTool, "its class cannot be constructed, so register an instance: TypeError"),
    ],
)
def test_classes_that_are_no_tools(obj: Any, reason: str) -> None:
    """The skip says why."""
    assert reason in refused(obj).reason


def test_an_object_under_two_codes_is_adapted_once() -> None:
    """So resolution sees that both codes offer the same tool."""
    adapters = Adapters()
    assert adapters.adapt_all(ClockTool, "a") is adapters.adapt_all(ClockTool, "b")


def test_the_registry_lists_functions() -> None:
    """A code's tools go by the names that a model sees."""
    registry = Registry()
    registry.register_tools("kit", [ClockTool, function, PlainTool()])
    meta = registry.get_capability_meta("kit") or {}
    assert meta["tool_names"] == ["read_clock", "wind_clock", "function", "nod"]
    assert registry.resolve_tools("kit")[:2] == [ClockTool, function]
