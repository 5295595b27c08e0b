"""openapi_schema and param: both styles, shapes, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from toolcrib.errors import InvalidOptions
from toolcrib.kit import Tool, ToolResult, openapi_schema, param


class SawTool(Tool):
    @openapi_schema(name="cut", description="Cut wood")
    @param("wood", "string", "Which wood", required=True)
    @param("length", "integer", "In millimetres", default=10)
    @param("speed", "number", "How fast", enum=[1, 2, 3])
    async def cut(self, wood: str, length: int = 10, speed: float = 1) -> ToolResult:
        return self.success_response([wood, length, speed])

    @param("angle", "integer", "Degrees", required=True)
    @openapi_schema(name="turn", description="Turn")
    @param("back", "boolean", "And back", default=False)
    async def turn(self, angle: int, back: bool = False) -> ToolResult:
        return self.success_response([angle, back])

    @openapi_schema()
    def stop(self) -> ToolResult:
        """Stop at once."""
        return self.success_response("stopped")

    @openapi_schema(
        {
            "type": "function",
            "function": {
                "name": "oil",
                "description": "Oil it",
                "parameters": {
                    "type": "object",
                    "properties": {"drops": {"type": "integer", "minimum": 1}},
                    "required": ["drops"],
                },
            },
        }
    )
    async def oil(self, drops: int, **more: Any) -> ToolResult:
        return self.success_response({"drops": drops, **more})


def schema(name: str) -> dict[str, Any]:
    return SawTool().get_schemas()[name][0].schema


def test_the_keyword_form() -> None:
    """Properties in written order; `required` holds only names; `default` where it was given."""
    assert schema("cut") == {
        "type": "function",
        "function": {
            "name": "cut",
            "description": "Cut wood",
            "parameters": {
                "type": "object",
                "properties": {
                    "wood": {"type": "string", "description": "Which wood"},
                    "length": {"type": "integer", "description": "In millimetres", "default": 10},
                    "speed": {"type": "number", "description": "How fast", "enum": [1, 2, 3]},
                },
                "required": ["wood"],
            },
        },
    }
    assert list(schema("cut")["function"]["parameters"]["properties"]) == [
        "wood",
        "length",
        "speed",
    ]


def test_param_may_stand_above() -> None:
    """The order of the decorators does not matter, the written order of parameters stays."""
    parameters = schema("turn")["function"]["parameters"]
    assert list(parameters["properties"]) == ["angle", "back"]
    assert parameters["required"] == ["angle"]


def test_name_and_description_have_defaults() -> None:
    """The method's name and its docstring; `required` is there though it is empty."""
    assert schema("stop") == {
        "type": "function",
        "function": {
            "name": "stop",
            "description": "Stop at once.",
            "parameters": {"type": "object", "properties": {}, "required": []},
        },
    }


def test_dicts_stack() -> None:
    """Every dict appends a schema, the lowest first."""

    def named(name: str) -> dict[str, Any]:
        return {"type": "function", "function": {"name": name, "parameters": {}}}

    class TwoTool(Tool):
        @openapi_schema(named("second"))
        @openapi_schema(named("first"))
        async def act(self) -> ToolResult:
            return self.success_response("")

    assert [one.name for one in TwoTool().get_schemas()["act"]] == ["first", "second"]
    assert [one.schema["function"]["name"] for one in TwoTool.act.tool_schemas] == [
        "first",
        "second",
    ]


@pytest.mark.parametrize(
    ("decorator", "message"),
    [
        (lambda: param("a", "text", "A"), "has the unknown type 'text'"),
        (
            lambda: param("a", "string", "A", enum=["x"], default="y"),
            "which its enum does not have",
        ),
        (lambda: param("a", "string", "A", required=True, default="y"), "is required and has"),
        (lambda: param("a", "integer", "A", default="1"), "a default that is not of type integer"),
        (lambda: param("a", "integer", "A", enum=[1, "2"]), "an enum whose values are not all"),
        (lambda: param("a", "boolean", "A", default=1), "a default that is not of type boolean"),
        (lambda: param("a", "string", "A", requird=True), "has the unknown keyword 'requird'"),
        (lambda: param("b", "string", "B"), "takes no parameter 'b'"),
        (lambda: openapi_schema({"name": "act"}), "is no function schema"),
        (lambda: openapi_schema("act"), "is no function schema"),  # type: ignore[arg-type]
        (lambda: openapi_schema({"function": {"parameters": []}}), "needs a name and an object"),
    ],
)
def test_what_contradicts_itself_is_refused(decorator: Callable[[], Any], message: str) -> None:
    """At decoration, with the parameter's or the method's name."""

    async def act(self: Tool, a: str) -> None:
        """Act."""

    with pytest.raises(InvalidOptions, match=message):
        decorator()(act)


def test_a_parameter_twice_is_refused() -> None:
    """So is a second schema of the keyword form."""

    async def act(self: Tool, a: str) -> None:
        """Act."""

    with pytest.raises(InvalidOptions, match="declares the parameter 'a' twice"):
        param("a", "string", "A")(param("a", "string", "A")(act))
    with pytest.raises(InvalidOptions, match="two schemas"):
        openapi_schema(name="x")(openapi_schema(name="y")(act))


def test_further_keywords() -> None:
    """An array can say what it holds."""

    class ListTool(Tool):
        @openapi_schema(name="act", description="Act")
        @param("names", "array", "Names", items={"type": "string"}, maxItems=2)
        async def act(self, names: list[str]) -> ToolResult:
            return self.success_response(names)

    (one,) = ListTool().get_schemas()["act"]
    assert one.schema["function"]["parameters"]["properties"] == {
        "names": {
            "type": "array",
            "description": "Names",
            "items": {"type": "string"},
            "maxItems": 2,
        }
    }


@pytest.mark.parametrize(
    ("given", "output"),
    [
        ({"wood": "oak"}, '["oak",10,1]'),
        ({"wood": "oak", "length": "20", "speed": 2}, '["oak",20,2]'),
    ],
)
async def test_arguments_that_fit(given: dict[str, Any], output: str) -> None:
    """Defaults are filled in; text becomes a number where a number is clearly wanted."""
    assert await SawTool().cut(**given) == ToolResult(success=True, output=output)


@pytest.mark.parametrize(
    ("given", "output"),
    [
        ({}, '"wood" is a required property'),
        ({"wood": 3}, 'wood: *** is not of type "string"'),
        ({"wood": "oak", "speed": 9}, "speed: *** is not one of 1, 2 or 3"),
        ({"wood": "oak", "paint": 1}, "got an unexpected keyword argument 'paint'"),
    ],
)
async def test_arguments_that_do_not_fit(given: dict[str, Any], output: str) -> None:
    """A failed result, no exception, and no value in it."""
    assert await SawTool().cut(**given) == ToolResult(
        success=False, output=f"Invalid arguments: {output}"
    )


async def test_the_dict_form_is_checked_too() -> None:
    """What it does not declare is passed on to a method that takes anything."""
    saw = SawTool()
    assert await saw.oil(drops=2, kind="thin") == ToolResult(True, '{"drops":2,"kind":"thin"}')
    assert (await saw.oil(drops=0)).success is False
    assert (await saw.oil()).output == 'Invalid arguments: "drops" is a required property'


def test_a_plain_method_stays_plain() -> None:
    """It answers at once."""
    assert SawTool().stop() == ToolResult(success=True, output="stopped")


async def test_a_parameter_that_no_schema_declares_may_be_missing() -> None:
    """Then the call is a failed result as well."""

    class HalfTool(Tool):
        @openapi_schema({"function": {"name": "act", "parameters": {"type": "object"}}})
        async def act(self, a: str) -> ToolResult:
            return self.success_response(a)

    assert await HalfTool().act() == ToolResult(False, "Invalid arguments: 'a' is missing.")
    assert await HalfTool().act("x") == ToolResult(True, "x")
