"""Plain functions: a schema from the signature, config injected, arguments validated."""

from __future__ import annotations

import functools
import inspect
import threading
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from datetime import date
from typing import TYPE_CHECKING, Annotated, Any, Literal, Optional

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import InjectedToolArg, InjectedToolCallId
from pydantic import BaseModel, Field

from tests.sources.native.calls import OURS, adapted, refused, run
from toolcrib import annotations as say
from toolcrib.tools.spec import Annotations

if TYPE_CHECKING:
    from somewhere import Unknown  # type: ignore[import-not-found]


class Place(BaseModel):
    city: str
    zip: str = ""


class Opaque:
    """Something that pydantic knows nothing of."""


async def test_signature_and_docstring_become_the_spec() -> None:
    """Types, defaults and descriptions are shown; titles that repeat the name are not."""

    async def find_people(
        query: Annotated[str, Field(description="What to look for", min_length=1)],
        near: Place,
        since: Annotated[date | None, "Not before"] = None,
        kind: Literal["a", "b"] = "a",
        limit: int = Field(default=10, ge=1),
    ) -> str:
        """Find people.

        The rest of the docstring too.
        """
        return ""

    spec = adapted(find_people).spec
    assert (spec.name, spec.description) == (
        "find_people",
        "Find people.\n\nThe rest of the docstring too.",
    )
    assert spec.input_schema == {
        "$defs": {
            "Place": {
                "properties": {
                    "city": {"type": "string"},
                    "zip": {"default": "", "type": "string"},
                },
                "required": ["city"],
                "title": "Place",
                "type": "object",
            }
        },
        "additionalProperties": False,
        "properties": {
            "query": {"description": "What to look for", "minLength": 1, "type": "string"},
            "near": {"$ref": "#/$defs/Place"},
            "since": {
                "anyOf": [{"format": "date", "type": "string"}, {"type": "null"}],
                "default": None,
                "description": "Not before",
            },
            "kind": {"default": "a", "enum": ["a", "b"], "type": "string"},
            "limit": {"default": 10, "minimum": 1, "type": "integer"},
        },
        "required": ["query", "near"],
        "type": "object",
    }


async def test_arguments_arrive_as_what_the_annotations_say() -> None:
    """Models as instances, dates as dates, defaults of both spellings as values."""
    seen: dict[str, Any] = {}

    def look(near: Place, since: date, sizes: list[int], limit: int = Field(default=4), z: int = 9):
        seen.update(locals())

    await run(look, {"near": {"city": "Graz"}, "since": "2026-01-02", "sizes": ["1", 2]})
    assert {k: v for k, v in seen.items() if k != "seen"} == {
        "near": Place(city="Graz"),
        "since": date(2026, 1, 2),
        "sizes": [1, 2],
        "limit": 4,
        "z": 9,
    }


async def test_names_that_a_model_class_uses_itself_are_fine() -> None:
    """`json`, `copy`, `schema`, `model_config`, `_x`, `self`: the function's names are its own."""

    def odd(
        json: str, copy: int, schema: str, model_config: str, _x: int, self: str, p0: int
    ) -> Any:
        return [json, copy, schema, model_config, _x, self, p0]

    given = {"json": "j", "copy": 1, "schema": "s", "model_config": "m", "_x": 2, "self": "me"}
    output = await run(odd, {**given, "p0": 3})
    assert output.structured == ["j", 1, "s", "m", 2, "me", 3]


async def test_positional_only_parameters_are_passed_by_place() -> None:
    """With their defaults where the model left them out."""

    def places(a: int, b: int = 2, /, c: int = 3) -> list[int]:
        return [a, b, c]

    assert (await run(places, {"a": 1, "c": 9})).structured == [1, 2, 9]


def _configs() -> list[Callable[..., Any]]:
    def typed(query: str, config: RunnableConfig) -> Any:
        return config

    def optional(query: str, config: RunnableConfig | None = None) -> Any:
        return config

    def old_optional(query: str, config: Optional[RunnableConfig] = None) -> Any:  # noqa: UP045
        return config

    def annotated(query: str, config: Annotated[RunnableConfig, "note"]) -> Any:
        return config

    def other_name(settings: RunnableConfig, query: str) -> Any:
        return settings

    def plain_dict(query: str, config: dict[str, Any]) -> Any:
        return config

    def mapping(query: str, *, config: Mapping[str, Any] | dict) -> Any:
        return config

    def bare(query, config):
        return config

    mapping.__annotations__["config"] = Mapping
    return [typed, optional, old_optional, annotated, other_name, plain_dict, mapping, bare]


@pytest.mark.parametrize("function", _configs(), ids=lambda f: f.__name__)
async def test_config_is_injected_and_never_shown(function: Callable[..., Any]) -> None:
    """The model neither sees nor sets it; ours win over what else is given."""
    assert list(adapted(function).spec.input_schema["properties"]) == ["query"]
    output = await run(function, {"query": "x"}, thread="t", chat_id=99, logged_user_id=1)
    assert output.structured == {"configurable": {"thread": "t", **OURS}}
    forged = await run(function, {"query": "x", "config": {"configurable": {"logged_user_id": 1}}})
    assert forged.error is not None
    assert forged.error.code == "invalid_arguments"


async def test_annotations_as_text_are_resolved_one_by_one() -> None:
    """An unresolvable one refuses the tool and is named, unless it is RunnableConfig."""

    def fine(a: int, config: RunnableConfig) -> str:
        return str(a + config["configurable"]["logged_user_id"])

    fine.__annotations__ = {"a": "int", "config": "lc.RunnableConfig", "return": "Unknown"}
    assert (await run(fine, {"a": "1"})).text == "8"

    def bad(a: Unknown) -> str:
        return str(a)

    assert "the annotation 'Unknown' of 'a' cannot be resolved" in refused(bad).reason


async def test_langchains_injected_arguments_are_filled_by_the_host() -> None:
    """The call id by its mark, others by their name in configurable; never by the model."""

    def marked(
        a: int,
        who: Annotated[str, InjectedToolArg],
        call: Annotated[str, InjectedToolCallId],
        maybe: Annotated[str, InjectedToolArg()] = "default",
    ) -> Any:
        return [a, who, call, maybe]

    assert list(adapted(marked).spec.input_schema["properties"]) == ["a"]
    assert (await run(marked, {"a": 1}, who="ann")).structured == [1, "ann", "call-1", "default"]
    missing = await run(marked, {"a": 1})
    assert missing.error is not None
    assert "injected argument 'who'" in missing.error.message


async def test_bad_arguments_are_named_without_their_values() -> None:
    """Paths and rules, never the value that a model sent."""

    def pay(amount: int, to: Place, kind: Literal["a"] = "a") -> None: ...

    output = await run(pay, {"amount": "hunter2-secret", "to": {"zip": "hunter2"}, "extra": 1})
    assert output.error is not None
    assert output.error.code == "invalid_arguments"
    assert output.text == (
        "amount: Input should be a valid integer, unable to parse string as an integer; "
        "to.city: Field required; extra: Extra inputs are not permitted"
    )


async def test_methods_and_partials_are_functions_too() -> None:
    """Bound arguments are gone from the schema; the name is the function's."""

    class Kit:
        base = 10

        def add(self, n: int) -> int:
            """Add."""
            return self.base + n

        @classmethod
        def make(cls, n: int) -> int:
            return cls.base * n

        @staticmethod
        async def plain(n: int) -> int:
            return n

    partial = functools.partial(Kit().add, n=5)
    two = functools.partial(pow, 2)
    assert (await run(Kit().add, {"n": 1})).text == "11"
    assert (await run(Kit.make, {"n": 2})).text == "20"
    assert (await run(Kit.plain, {"n": 3})).text == "3"
    assert (await run(partial)).text == "15"
    assert (adapted(partial).spec.name, adapted(partial).spec.description) == ("add", "Add.")
    assert adapted(two).spec.name == "pow"


async def test_decorated_functions_keep_their_signature() -> None:
    """functools.wraps is followed, and a coroutine from a plain wrapper is awaited."""

    def logged(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            return function(*args, **kwargs)

        return wrapper

    @logged
    async def double(n: int) -> int:
        """Twice."""
        return n * 2

    assert list(adapted(double).spec.input_schema["properties"]) == ["n"]
    assert (await run(double, {"n": 4})).text == "8"


_chosen: ContextVar[str] = ContextVar("chosen", default="")


async def test_plain_functions_run_in_a_thread_with_the_context() -> None:
    """The loop stays free, context variables are there."""
    _chosen.set("kept")

    def where() -> list[Any]:
        return [threading.current_thread() is threading.main_thread(), _chosen.get()]

    async def here() -> list[Any]:
        return [threading.current_thread() is threading.main_thread(), _chosen.get()]

    assert (await run(where)).structured == [False, "kept"]
    assert (await run(here)).structured == [True, "kept"]


def _unfit() -> list[tuple[Any, str]]:
    def stars(*args: int) -> None: ...
    def keywords(a: int, **kwargs: int) -> None: ...
    def opaque(a: Opaque) -> None: ...
    def calls(a: Callable[[], None]) -> None: ...

    return [
        (stars, "*args: 'int', which no JSON Schema can describe"),
        (keywords, "**kwargs: 'int', which no JSON Schema can describe"),
        (opaque, "PydanticSchemaGenerationError"),
        (calls, "have no JSON Schema"),
        (lambda a: a, "a lambda has no name"),
        (print, "which no JSON Schema can describe"),
        (getattr, "cannot be read"),
        (Opaque, "it is a type"),
        (Opaque(), "it is an Opaque"),
        ("text", "it is a str"),
        (None, "it is a NoneType"),
        ([1], "it is a list"),
    ]


@pytest.mark.parametrize(
    ("obj", "why"), _unfit(), ids=lambda v: getattr(v, "__name__", str(v)[:20])
)
def test_what_cannot_be_a_tool_says_why(obj: Any, why: str) -> None:
    """A skip with the reason and who registered it, never an exception."""
    skip = refused(obj)
    assert why in skip.reason
    assert skip.reason.startswith("not a tool: ")
    assert skip.reason.endswith("(registered by code of this process)")
    assert skip.ref.startswith("native:code/")
    assert skip.fix


def test_annotations_of_a_function_are_read() -> None:
    """Set by the decorator, through partials too; only real booleans count."""

    @say(read_only=True, idempotent=False, title="Look")
    def look(a: int) -> None: ...

    expected = Annotations(read_only=True, idempotent=False, title="Look")
    assert adapted(look).spec.annotations == expected
    assert adapted(functools.partial(look, 1)).spec.annotations == expected
    assert adapted(look).spec.read_only
    vars(look)["__toolcrib_annotations__"] = {"readOnlyHint": "yes", "title": 5}
    assert adapted(look).spec.annotations == Annotations()


_kinds = st.sampled_from(["visible", "config", "call_id", "injected"])


@given(st.lists(_kinds, max_size=8), st.booleans())
def test_a_schema_never_shows_what_is_injected(kinds: list[str], defaults: bool) -> None:
    """Whatever the order and number of injected parameters, only the model's own are shown."""
    hints = {
        "visible": int,
        "config": RunnableConfig,
        "call_id": Annotated[str, InjectedToolCallId],
        "injected": Annotated[str, InjectedToolArg],
    }
    names = [f"{kind}_{number}" for number, kind in enumerate(kinds)]

    def function(**given: Any) -> list[str]:
        return sorted(given)

    function.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                annotation=hints[kind],
                default=None if defaults else inspect.Parameter.empty,
            )
            for name, kind in zip(names, kinds, strict=True)
        ]
    )
    schema = adapted(function).spec.input_schema
    shown = [name for name, kind in zip(names, kinds, strict=True) if kind == "visible"]
    assert list(schema["properties"]) == shown
    assert schema.get("required", []) == ([] if defaults else shown)
