"""The short way to a tool's function gives what LangChain's own `ainvoke` gives."""

from __future__ import annotations

import enum
from datetime import date
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, StructuredTool, ToolException
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    computed_field,
    create_model,
    field_serializer,
    model_validator,
)

from tests.sources.native.calls import OURS, a_call, adapted

CONFIG: RunnableConfig = {"configurable": OURS}


class Inner(BaseModel):
    n: int
    m: str = "m"


class Color(enum.Enum):
    RED = "red"


async def compare(tool: BaseTool, arguments: dict[str, Any]) -> None:
    """Same result, or the same kind of error."""
    ours = await adapted(tool).run(a_call(arguments))
    raised: Exception | None = None
    try:
        theirs = await tool.ainvoke(dict(arguments), CONFIG)
    except Exception as error:  # noqa: BLE001 - whatever LangChain lets through
        raised = error
    if raised is None:
        assert (ours.error, ours.text) == (None, theirs)
        return
    assert ours.error is not None
    if isinstance(raised, ValidationError):
        assert ours.error.code == "invalid_arguments"
        assert len(ours.text.split("; ")) >= min(raised.error_count(), 10)
    else:
        assert ours.error.code == "tool_error"
        assert f"{tool.name} failed: {type(raised).__name__}" in ours.text


async def show(**given: Any) -> str:
    """Everything that arrived, with its types."""
    return repr(sorted((k, type(v).__name__, v) for k, v in given.items()))


def show_sync(**given: Any) -> str:
    return repr(sorted((k, type(v).__name__, v) for k, v in given.items()))


_types: list[tuple[Any, Any]] = [
    (int, 3),
    (str, "s"),
    (float, 1.5),
    (bool, True),
    (int | None, None),
    (list[int], [1]),
    (dict[str, int], {"k": 1}),
    (Inner, Inner(n=1)),
    (list[Inner], []),
    (Literal["a", "b"], "a"),
    (date, date(2026, 1, 2)),
    (Color, Color.RED),
    (Any, None),
]
_names = st.sampled_from(["a", "b", "c", "args", "kwargs", "self_", "json", "d"])
_values = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-5, 5),
    st.sampled_from([1.0, 2.5, "3", "x", "", "a", "red", "2026-01-02", [1], ["x"], [{"n": 1}]]),
    st.sampled_from([{"n": 1}, {"n": "2", "m": "z"}, {"k": 1}, {}, {"m": 1}]),
)


@st.composite
def _models(draw: st.DrawFn) -> type[BaseModel]:
    fields: dict[str, Any] = {}
    for name in draw(st.lists(_names, unique=True, max_size=5)):
        hint, default = draw(st.sampled_from(_types))
        options: dict[str, Any] = {}
        if draw(st.booleans()):
            if draw(st.booleans()):
                options["default"] = default
            else:
                options["default_factory"] = lambda value=default: value
        if draw(st.integers(0, 4)) == 0:
            options["alias"] = f"{name}Alias"
        if draw(st.integers(0, 6)) == 0:
            options["exclude"] = True
        fields[name] = (hint, Field(**options))
    config = ConfigDict(
        extra=draw(st.sampled_from(["ignore", "forbid", "allow"])),
        validate_by_name=draw(st.booleans()),
        validate_by_alias=True,
        protected_namespaces=(),
    )
    return create_model("Arguments", __config__=config, **fields)


@st.composite
def _cases(draw: st.DrawFn) -> tuple[type[BaseModel], dict[str, Any]]:
    model = draw(_models())
    keys = [*model.model_fields, *(f"{name}Alias" for name in model.model_fields), "extra"]
    chosen = draw(st.lists(st.sampled_from(keys), unique=True))
    fitting = {name: default for _, default in _types[:4] for name in model.model_fields}
    return model, {
        key: fitting[key] if key in fitting and draw(st.booleans()) else draw(_values)
        for key in chosen
    }


@pytest.mark.filterwarnings("ignore:Field name:UserWarning")
@given(_cases())
async def test_any_model_with_any_arguments(case: tuple[type[BaseModel], dict[str, Any]]) -> None:
    """Defaults, aliases, nested models, extras, excluded fields, wrong values."""
    model, arguments = case
    tool = StructuredTool(name="t", description="d", args_schema=model, coroutine=show)
    await compare(tool, arguments)


@pytest.mark.filterwarnings("ignore:Field name:UserWarning")
@given(_cases())
async def test_any_model_for_a_sync_function(
    case: tuple[type[BaseModel], dict[str, Any]],
) -> None:
    """The same in a thread."""
    model, arguments = case
    tool = StructuredTool(name="t", description="d", args_schema=model, func=show_sync)
    await compare(tool, arguments)


class Computed(BaseModel):
    a: int

    @computed_field  # type: ignore[prop-decorator]
    @property
    def double(self) -> int:
        return self.a * 2


class Serialised(BaseModel):
    a: int = 1

    @field_serializer("a")
    def broken(self, value: int) -> str:
        raise RuntimeError("cannot be written")


class Replacing(BaseModel):
    a: int = 1

    @model_validator(mode="before")
    @classmethod
    def other(cls, values: dict[str, Any]) -> dict[str, Any]:
        return {"a": values.get("b", 5)}


class After(BaseModel):
    a: int = 1
    b: int | None = None

    @model_validator(mode="after")
    def fill(self) -> After:
        self.b = self.a + 1
        return self


class OwnValidation(BaseModel):
    a: int = 1

    @classmethod
    def model_validate(cls, obj: Any, **options: Any) -> Any:
        return super().model_validate({"a": 77}, **options)


class Empty(BaseModel):
    """No arguments at all."""


class Strict(BaseModel):
    model_config = ConfigDict(strict=True)
    a: int


@pytest.mark.parametrize(
    "model", [Computed, Serialised, Replacing, After, OwnValidation, Empty, Strict, Inner]
)
@pytest.mark.parametrize("arguments", [{}, {"a": 1}, {"a": "2"}, {"b": 3}, {"n": 1}])
async def test_models_with_ways_of_their_own(
    model: type[BaseModel], arguments: dict[str, Any]
) -> None:
    """Computed fields, serialisers, validators that replace values, no fields, strictness."""
    await compare(
        StructuredTool(name="t", description="d", args_schema=model, coroutine=show), arguments
    )


async def _typed(
    a: int, b: list[Inner] | None = None, *, config: RunnableConfig, c: str = "c"
) -> str:
    return repr((a, b, c, config["configurable"]))


def _typed_sync(a: int, config: RunnableConfig, b: Color = Color.RED) -> str:
    return repr((a, b, config["configurable"]))


async def _no_arguments() -> str:
    return "nothing"


async def _raises(a: int) -> str:
    raise ToolException(f"a={a}")


async def _raises_validation(a: int) -> str:
    Inner.model_validate({"n": "no"})
    return "never"


@pytest.mark.parametrize("function", [_typed, _typed_sync, _no_arguments, _raises])
@pytest.mark.parametrize(
    "arguments", [{}, {"a": 1}, {"a": "x"}, {"a": 1, "b": [{"n": 2}]}, {"a": 1, "b": "red", "z": 1}]
)
async def test_schemas_inferred_from_signatures(function: Any, arguments: dict[str, Any]) -> None:
    """What `@tool` makes of a function."""
    import inspect

    kind = "coroutine" if inspect.iscoroutinefunction(function) else "func"
    tool = StructuredTool.from_function(**{kind: function}, name="t", description="d")
    await compare(tool, arguments)


async def test_a_validation_error_inside_the_tool_is_the_tools() -> None:
    """It is not blamed on the model's arguments, and shows no value either."""
    tool = StructuredTool.from_function(coroutine=_raises_validation, name="t", description="d")
    ours = await adapted(tool).run(a_call({"a": 1}))
    assert ours.error is not None
    assert ours.error.code == "tool_error"
    assert ours.text == (
        "t failed: ValidationError: n: Input should be a valid integer, "
        "unable to parse string as an integer"
    )
