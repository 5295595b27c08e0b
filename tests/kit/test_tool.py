"""Tool, results and metadata: defaults and shapes."""

from __future__ import annotations

import dataclasses
import datetime as dt
import json
import logging
from typing import Any

import pytest

from toolcrib.kit import (
    MethodMetadata,
    SchemaType,
    Tool,
    ToolMetadata,
    ToolResult,
    ToolSchema,
    method_metadata,
    openapi_schema,
    param,
    tool_metadata,
)


@tool_metadata(display_name="Shelf", description="Find parts", icon="box", weight=30)
class ShelfTool(Tool):
    """Finds parts."""

    @method_metadata(display_name="Find", description="Finds a part", is_core=True)
    @openapi_schema(name="find_part", description="Find a part")
    @param("number", "string", "Its number", required=True)
    async def find_part(self, number: str) -> ToolResult:
        return self.success_response({"number": number})

    @openapi_schema({"type": "function", "function": {"name": "count_parts", "parameters": {}}})
    async def count_parts(self) -> ToolResult:
        """Count them."""
        return self.success_response(12)


class WiderShelfTool(ShelfTool):
    @openapi_schema(name="sort_parts", description="Sort")
    async def sort_parts(self) -> ToolResult:
        return self.fail_response("not today")

    async def count_parts(self) -> ToolResult:
        return self.success_response("hidden")


def test_schema_type() -> None:
    """There is one kind of schema."""
    assert [(one.name, one.value) for one in SchemaType] == [("OPENAPI", "openapi")]


def test_metadata_defaults() -> None:
    """A tool is not core, weighs 100 and is not shown; a method is shown."""
    assert dataclasses.asdict(ToolMetadata("Name", "What")) == {
        "display_name": "Name",
        "description": "What",
        "icon": None,
        "color": None,
        "is_core": False,
        "weight": 100,
        "visible": False,
        "usage_guide": None,
        "category": None,
    }
    assert dataclasses.asdict(MethodMetadata("Name", "What")) == {
        "display_name": "Name",
        "description": "What",
        "is_core": False,
        "visible": True,
    }


def test_tool_metadata_takes_the_same_arguments() -> None:
    """The decorator's defaults are the dataclass's."""

    @tool_metadata("Name", "What")
    class OneTool(Tool):
        pass

    assert OneTool().get_metadata() == ToolMetadata("Name", "What")


def test_an_instance_knows_its_schemas_and_metadata() -> None:
    """By method name, in the order in which they are written."""
    shelf = ShelfTool()
    schemas = shelf.get_schemas()
    assert list(schemas) == ["find_part", "count_parts"]
    assert [type(one) for one in schemas["find_part"]] == [ToolSchema]
    assert schemas["find_part"][0].schema_type is SchemaType.OPENAPI
    assert shelf.get_metadata() == ToolMetadata("Shelf", "Find parts", icon="box", weight=30)
    assert shelf.get_method_metadata() == {
        "find_part": MethodMetadata("Find", "Finds a part", is_core=True)
    }


def test_a_subclass_inherits_and_hides() -> None:
    """A method that is overridden without a schema is no tool any more."""
    assert list(WiderShelfTool().get_schemas()) == ["find_part", "sort_parts"]
    assert WiderShelfTool().get_metadata() == ShelfTool().get_metadata()


def test_a_constructor_that_forgets_its_base() -> None:
    """The class's schemas are there all the same."""

    class ForgetfulTool(ShelfTool):
        def __init__(self) -> None:
            self.other = 1

    assert list(ForgetfulTool().get_schemas()) == ["find_part", "count_parts"]


@pytest.mark.parametrize(
    ("data", "output"),
    [
        ("done", "done"),
        (12, "12"),
        (None, "None"),
        ({"status": "complete", "data": [1, 2]}, '{"status":"complete","data":[1,2]}'),
        (["ä", True, None], '["ä",true,null]'),
        ({"when": dt.date(2026, 1, 2)}, '{"when":"2026-01-02"}'),
        ({1: {2}, ("a", "b"): 1}, '{"1":"{2}","(\'a\', \'b\')":1}'),
        ({"n": float("nan")}, '{"n":"nan"}'),
    ],
)
def test_success_response(data: Any, output: str) -> None:
    """Dicts and lists become JSON, what JSON cannot hold its str; anything else is a str."""
    assert Tool().success_response(data) == ToolResult(success=True, output=output)


def test_a_value_inside_itself_has_an_end() -> None:
    """A cycle is cut, not an error."""
    ring: dict[str, Any] = {"a": 1}
    ring["self"] = ring
    assert json.loads(Tool().success_response(ring).output) == {"a": 1, "self": "…"}


def test_the_value_stays_available() -> None:
    """What became JSON text is kept beside it."""
    data = {"a": [1]}
    assert Tool().success_response(data).raw is data
    assert Tool().success_response("text").raw is None


def test_fail_response() -> None:
    """The message as it is, and no success."""
    assert Tool().fail_response("no such part") == ToolResult(False, "no such part")


async def test_methods_are_called_as_written() -> None:
    """By position and by keyword."""
    shelf = ShelfTool()
    found = ToolResult(success=True, output='{"number":"7"}')
    assert await shelf.find_part("7") == found
    assert await shelf.find_part(number="7") == found


def test_an_undeclared_parameter_is_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    """A required parameter that no model can give is pointed out when the class is made."""
    with caplog.at_level(logging.WARNING, "toolcrib.kit"):

        class OddTool(Tool):
            @openapi_schema(name="act", description="Act")
            @param("a", "string", "A")
            async def act(self, a: str, b: str, c: str = "") -> ToolResult:
                return self.success_response(a + b + c)

    assert [record.getMessage() for record in caplog.records] == [
        "OddTool.act needs 'b', which no @param declares: no model will give it"
    ]
    assert list(OddTool().get_schemas()) == ["act"]
