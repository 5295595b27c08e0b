"""Registration: accumulation, several codes, metadata, dedupe by name, any kind of object."""

from __future__ import annotations

import logging
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.tools import tool

import toolcrib
from toolcrib.errors import InvalidOptions
from toolcrib.plugin.registration import Registry, annotations, default_registry
from toolcrib.plugin.reports import one_line


class Named:
    """Any object with a name."""

    def __init__(self, name: str) -> None:
        self.name = name


def test_a_registered_object_is_resolved_as_it_is(registry: Registry) -> None:
    """resolve_tools gives back the very objects, in the order of registration."""
    one, two = Named("one"), Named("two")
    registry.register_tools("crm", [one, two])
    assert [id(obj) for obj in registry.resolve_tools(["crm"])] == [id(one), id(two)]


def test_registrations_accumulate_and_a_bare_one_keeps_the_metadata(registry: Registry) -> None:
    """A second call adds tools; without name and description it erases neither."""
    registry.register_tools("crm", [Named("a")], name="CRM", description="Contacts")
    registry.register_tools("crm", [Named("b")])
    assert registry.get_capability_meta("crm") == {
        "code": "crm",
        "name": "CRM",
        "description": "Contacts",
        "tool_names": ["a", "b"],
    }


def test_each_part_of_the_metadata_can_come_later(registry: Registry) -> None:
    """A later name or description counts, and leaves the other one."""
    registry.register_tools("crm", [], name="CRM", description="Old")
    registry.register_tools("crm", [], description="New")
    bundle = registry.snapshot().bundles["crm"]
    assert (bundle.name, bundle.description) == ("CRM", "New")


def test_an_unknown_code_has_no_metadata_and_is_logged(
    registry: Registry, caplog: pytest.LogCaptureFixture
) -> None:
    """Unknown codes are ignored by resolve_tools, with a log line that names them."""
    known = Named("known")
    registry.register_tools("known", [known])
    with caplog.at_level(logging.WARNING, "toolcrib.plugin.registry"):
        assert registry.resolve_tools(["unknown", "known"]) == [known]
    assert "'unknown'" in caplog.text
    assert registry.get_capability_meta("unknown") is None


def test_capability_takes_a_tool_or_a_list_and_several_codes(registry: Registry) -> None:
    """The decorator registers under each code and returns the same object."""
    kit = [Named("a"), Named("b")]
    assert registry.capability("base", "rag")(kit) is kit

    @registry.capability("base")
    def alone() -> str:
        return "x"

    assert alone() == "x"
    assert registry.resolve_tools(["rag"]) == kit
    assert registry.resolve_tools(["base"]) == [*kit, alone]


def test_a_langchain_tool_is_one_tool_though_it_can_be_iterated(registry: Registry) -> None:
    """A pydantic model yields its fields when iterated; it must not be taken for a list."""

    @registry.capability("x")
    @tool
    def look(where: str) -> str:
        """Look."""
        return where

    assert registry.resolve_tools("x") == [look]


def test_the_same_tool_under_two_codes_appears_once(registry: Registry) -> None:
    """Dedupe is by tool name; the first active code wins."""
    first, second = Named("same"), Named("same")
    registry.register_tools("a", [first])
    registry.register_tools("b", [second, first])
    assert registry.resolve_tools(["b", "a"]) == [second]
    assert registry.resolve_tools(["a", "b"]) == [first]


def test_comma_lists_work_for_registering_and_for_resolving(registry: Registry) -> None:
    """Parts are trimmed, empty ones dropped."""
    one = Named("one")
    registry.register_tools(" a , b,", [one], name="N")
    assert registry.resolve_tools("b, ,a") == [one]
    assert [b.name for b in registry.snapshot().bundles.values()] == ["N", "N"]


@pytest.mark.parametrize("code", ["", " , ", "CRM", "1st", "a-b", "a b", "_a", "ä", None, 5, ["a"]])
def test_a_bad_code_is_the_authors_error(registry: Registry, code: object) -> None:
    """The message shows the code or its type; nothing is registered."""
    with pytest.raises(InvalidOptions) as caught:
        registry.register_tools(code, [Named("a")])  # type: ignore[arg-type]
    assert caught.value.where == "code"
    assert dict(registry.snapshot().bundles) == {}


def test_capability_without_a_code_says_how_to_use_it(registry: Registry) -> None:
    """`@capability` without parentheses is a common slip."""
    with pytest.raises(InvalidOptions, match="@capability alone"):
        registry.capability(lambda: None)  # type: ignore[arg-type]
    with pytest.raises(InvalidOptions, match="No code"):
        registry.capability()


@pytest.mark.parametrize("tools", [None, {"a": 1}])
def test_none_and_a_mapping_cannot_be_meant(registry: Registry, tools: object) -> None:
    """They are refused at once instead of being registered as tools."""
    with pytest.raises(InvalidOptions, match="as a list"):
        registry.register_tools("x", tools)


def test_generators_tuples_sets_and_single_objects_are_taken(registry: Registry) -> None:
    """Whatever holds several objects is read once; anything else is one object."""
    a, b = Named("a"), Named("b")
    registry.register_tools("x", (obj for obj in [a, b]))
    registry.register_tools("y", (a,))
    registry.register_tools("z", {b})
    registry.register_tools("w", a)
    registry.register_tools("text", "just_text")
    found = {code: registry.resolve_tools(code) for code in ("x", "y", "z", "w", "text")}
    assert found == {"x": [a, b], "y": [a], "z": [b], "w": [a], "text": ["just_text"]}


def test_any_kind_is_kept_even_one_whose_name_cannot_be_read(registry: Registry) -> None:
    """Registering never fails on a tool's kind."""

    class Hostile:
        @property
        def name(self) -> str:
            raise RuntimeError("no")

    objects = [None, 5, "text", object(), Hostile(), [1], {"a": 1}, Named("ok")]
    registry.register_tools("x", objects)
    assert registry.resolve_tools("x") == objects
    assert "ok" in (registry.get_capability_meta("x") or {})["tool_names"]


def test_registering_the_same_object_again_changes_nothing(registry: Registry) -> None:
    """One object is listed once under a code."""
    one = Named("one")
    registry.register_tools("x", [one, one])
    registry.register_tools("x", [one])
    assert len(registry.snapshot().bundles["x"].entries) == 1


def test_a_snapshot_is_kept_until_something_changes(registry: Registry) -> None:
    """Taking one is cheap, and an old one never changes."""
    registry.register_tools("x", [Named("a")])
    old = registry.snapshot()
    assert registry.snapshot() is old
    registry.register_tools("x", [Named("b")])
    assert registry.snapshot() is not old
    assert registry.snapshot().version > old.version
    assert old.bundles["x"].tool_names == ["a"]


def test_conditions_are_kept_by_code_and_the_first_stays(
    registry: Registry, caplog: pytest.LogCaptureFixture
) -> None:
    """A second predicate for a code is left out with a log line."""

    @registry.condition("canvas")
    def first(situation: object) -> bool:
        return bool(situation)

    with caplog.at_level(logging.WARNING):
        registry.register_condition("canvas", lambda situation: True)
        held = registry.snapshot().conditions
    assert {code: c.predicate for code, c in held.items()} == {"canvas": first}
    assert "'canvas'" in caplog.text
    with pytest.raises(InvalidOptions, match="is a function"):
        registry.register_condition("x", "nothing")  # type: ignore[arg-type]


def test_module_functions_act_on_the_process_registry() -> None:
    """The front door's names and the default registry are the same thing."""
    one = Named("front_door_one")
    toolcrib.register_tools("front_door", [one], name="F", description="D")

    @toolcrib.capability("front_door")
    def front_door_two() -> None: ...

    @toolcrib.condition("front_door")
    def always(situation: object) -> bool:
        return True

    assert toolcrib.resolve_tools(["front_door"]) == [one, front_door_two]
    assert toolcrib.get_capability_meta("front_door") == {
        "code": "front_door",
        "name": "F",
        "description": "D",
        "tool_names": ["front_door_one", "front_door_two"],
    }
    snapshot = default_registry().snapshot()
    assert snapshot.conditions["front_door"].predicate is always
    assert [e.origin for e in snapshot.bundles["front_door"].entries] == [None, None]


def test_annotations_mark_functions_and_langchain_tools() -> None:
    """The decorator returns the same object and leaves MCP's names where they are read."""

    def reads() -> None: ...

    assert annotations(read_only=True, title="Reads")(reads) is reads

    @annotations(read_only=True)
    @annotations(destructive=False)
    @tool(description="d")
    def looks() -> str:
        return ""

    assert vars(reads)["__toolcrib_annotations__"] == {"readOnlyHint": True, "title": "Reads"}
    assert looks.metadata == {"destructiveHint": False, "readOnlyHint": True}
    with pytest.raises(InvalidOptions, match="cannot carry"):
        annotations(read_only=True)(len)


def test_registering_loads_nothing_heavy() -> None:
    """A plugin that only registers stays light: no pydantic, asyncio or LangChain comes along."""
    script = (
        "import sys; from toolcrib import register_tools, capability; "
        "print(sorted({'pydantic','asyncio','langchain_core','sqlalchemy'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


_codes = st.sampled_from(["a", "b", "c", "d"])
_registrations = st.lists(
    st.tuples(_codes, st.lists(st.sampled_from(["t1", "t2", "t3", "t4"]), max_size=4)), max_size=6
)


@given(_registrations, st.lists(_codes, max_size=6))
def test_resolving_keeps_the_first_of_each_name_in_order(
    registrations: list[tuple[str, list[str]]], active: list[str]
) -> None:
    """Order is the codes as given, then registration; each name once; nothing else appears."""
    registry = Registry()
    held: dict[str, list[Named]] = {}
    for code, names in registrations:
        objects = [Named(name) for name in names]
        registry.register_tools(code, objects)
        held.setdefault(code, []).extend(objects)
    expected: dict[str, Named] = {}
    for code in active:
        for obj in held.get(code, []):
            expected.setdefault(obj.name, obj)
    assert registry.resolve_tools(active) == list(expected.values())
    for code, objects in held.items():
        meta = registry.get_capability_meta(code)
        assert meta is not None
        assert meta["tool_names"] == list(dict.fromkeys(obj.name for obj in objects))


def test_half_characters_do_not_reach_those_who_list(registry: Registry) -> None:
    """Names and descriptions are shown to people as JSON, which holds no half characters."""
    registry.register_tools("crm", [Named("a")], name="C\ud800", description="\udfffD")
    meta = registry.get_capability_meta("crm")
    assert meta is not None
    assert (meta["name"], meta["description"]) == ("C?", "?D")
    assert one_line(ValueError("\ud800")) == "ValueError: ?"
