"""The shelf and the source: what a registry holds, adapted once, with origins and skips."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from time import perf_counter

import pytest
from langchain_core.tools import tool

from tests.sources.native.calls import a_call
from toolcrib.errors import NotFound
from toolcrib.plugin.changes import Change, Origin
from toolcrib.plugin.registration import Registry
from toolcrib.sources.native.adapting import Adapters, adapt
from toolcrib.sources.native.shelf import NativeShelf
from toolcrib.sources.native.source import NativeSource
from toolcrib.sources.native.tool import NativeTool
from toolcrib.tools.source import Skip
from toolcrib.tools.spec import ToolSpec
from toolcrib.tools.turns import LONGEST

ORIGIN = Origin(distribution="p-crm", version="1.2", entry_point="crm", value="p_crm:register")


@tool
async def search(query: str) -> str:
    """Search."""
    return query


def plain(n: int) -> int:
    return n + 1


@pytest.fixture
def registry() -> Registry:
    """One code of a plugin with a good and a bad object, one of this process."""
    made = Registry()
    made.apply(
        [Change(code="crm", tools=(search, "no_tool"), name="CRM", description="d", origin=ORIGIN)]
    )
    made.register_tools("own", [plain, search])
    return made


def test_a_bundle_has_offers_origins_and_skips(registry: Registry) -> None:
    """Everything resolution needs, without waiting."""
    bundle = NativeShelf(registry).bundle("crm")
    assert bundle is not None
    assert (bundle.code, bundle.kind, bundle.name, bundle.description) == (
        "crm",
        "native",
        "CRM",
        "d",
    )
    assert [(offer.spec.name, offer.origin) for offer in bundle.offers] == [("search", "p-crm 1.2")]
    assert bundle.skipped == (
        Skip(
            ref="native:crm/no_tool",
            reason="not a tool: it is a str (registered by p-crm 1.2)",
            fix="Register LangChain tools, functions with annotated parameters, or kit classes.",
        ),
    )


def test_unknown_codes_are_none_and_known_ones_listed(registry: Registry) -> None:
    """In the order of registration."""
    shelf = NativeShelf(registry)
    assert shelf.bundle("unknown") is None
    assert shelf.codes() == ("crm", "own")


def test_one_object_under_two_codes_is_one_call_path(registry: Registry) -> None:
    """So that resolution sees that they are the same tool, whoever registered it."""
    shelf = NativeShelf(registry)
    crm, own = shelf.bundle("crm"), shelf.bundle("own")
    assert crm is not None
    assert own is not None
    assert crm.offers[0].run == own.offers[1].run
    assert crm.offers[0].spec is own.offers[1].spec
    assert (crm.offers[0].origin, own.offers[1].origin) == ("p-crm 1.2", "this process")
    assert own.offers[0].run != own.offers[1].run


def test_a_bundle_is_made_once_and_anew_after_a_change(registry: Registry) -> None:
    """Objects that stay keep their spec."""
    shelf = NativeShelf(registry)
    first = shelf.bundle("own")
    assert shelf.bundle("own") is first
    registry.register_tools("own", [len])
    second = shelf.bundle("own")
    assert first is not None
    assert second is not None
    assert second is not first
    assert second.offers[0].spec is first.offers[0].spec
    assert [skip.ref for skip in second.skipped] == []


def test_conditions_of_plugins_are_offered_by_code(registry: Registry) -> None:
    """As the plain predicates."""
    registry.register_condition("crm", bool)
    assert dict(NativeShelf(registry).conditions()) == {"crm": bool}


async def test_warming_adapts_everything(registry: Registry) -> None:
    """Afterwards nobody waits for it."""
    made: list[object] = []

    def count(obj: object) -> None:
        made.append(obj)

    shelf = NativeShelf(registry, adapters=Adapters(more=[count]))
    await shelf.warm()
    assert made == ["no_tool"]
    shelf.bundle("crm")
    assert made == ["no_tool"]


async def test_whoever_waits_comes_in_between(registry: Registry) -> None:
    """Thousands of tools are adapted in turns with the rest of the process."""
    log: list[str] = []

    def slow(obj: object) -> None:
        began = perf_counter()
        while perf_counter() - began <= 2 * LONGEST:
            pass
        log.append("adapted")

    async def other() -> None:
        while log.count("adapted") < 3:
            log.append("other")
            await asyncio.sleep(0)

    registry.register_tools("many", ["first", "second", "third"])
    shelf = NativeShelf(registry, adapters=Adapters(more=[slow]))
    await asyncio.gather(shelf.prepare(["many", "nothing"]), other())
    kept = [one for one, before in zip(log, ["", *log], strict=False) if one != before]
    assert kept == ["adapted", "other", "adapted", "other", "adapted"]


async def test_another_adapter_brings_another_kind() -> None:
    """The seam for kinds to come: tried after ours, the first that fits."""

    def shouts(obj: object) -> tuple[ToolSpec, object] | None:
        if not isinstance(obj, str):
            return None

        async def body(call: object) -> object:
            from toolcrib.tools.result import Output

            return Output.of_text(obj.upper())

        return ToolSpec(name=obj), body

    made = Adapters(more=[shouts]).adapt("hey", "code")  # type: ignore[list-item]
    assert isinstance(made, NativeTool)
    assert (made.spec.name, (await made.run(a_call())).text) == ("hey", "HEY")


async def test_the_source_lists_calls_and_refuses_unknown_names(registry: Registry) -> None:
    """The port of every stage above."""
    source = NativeSource("crm", registry.snapshot().bundles["crm"])
    listing = await source.list()
    assert [spec.name for spec in listing.tools] == ["search"]
    assert [skip.ref for skip in listing.skipped] == ["native:crm/no_tool"]
    assert (await source.call("search", a_call({"query": "x"}))).text == "x"
    assert await source.preview("search", {}) is None
    with pytest.raises(NotFound, match="no tool 'no_tool'"):
        await source.call("no_tool", a_call())
    await source.close()


async def test_the_first_of_two_names_is_called(registry: Registry) -> None:
    """Within a code too."""

    def search(query: str) -> str:
        return "the second"

    registry.register_tools("crm", [search])
    source = NativeSource("crm", registry.snapshot().bundles["crm"])
    assert (await source.call("search", a_call({"query": "first"}))).text == "first"


def test_the_process_adapts_an_object_once() -> None:
    """`adapt` keeps what it made."""
    first = adapt(plain, "a")
    assert isinstance(first, NativeTool)
    assert adapt(plain, "b", ORIGIN) is first


async def test_many_calls_at_once_do_not_mix() -> None:
    """Each call keeps its own arguments and config."""

    made = adapt(plain, "x")
    assert isinstance(made, NativeTool)
    outputs = await asyncio.gather(*(made.run(a_call({"n": n})) for n in range(200)))
    assert [output.structured for output in outputs] == list(range(1, 201))


def test_functions_need_no_langchain() -> None:
    """Adapting and calling one imports nothing of it."""
    script = """
import asyncio, sys
from toolcrib.identity.caller import Caller
from toolcrib.sources.native.adapting import adapt
from toolcrib.tools.call import Call
def add(a: int, config: dict) -> int:
    return a + config["configurable"]["logged_user_id"]
call = Call(call_id="c", arguments={"a": 1}, caller=Caller(user_id=2), deadline=60)
print(asyncio.run(adapt(add, "x").run(call)).text)
print([name for name in sys.modules if name.startswith(("langchain", "langgraph", "langsmith"))])
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout == "3\n[]\n"
