"""Names within one agent: who keeps one, who loses it, and that the loser is told."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from toolcrib.resolution.naming import MAX_NAME, Names, qualified
from toolcrib.tools.call import Call
from toolcrib.tools.result import Output
from toolcrib.tools.source import Bundle, KindName, Offer, Skip
from toolcrib.tools.spec import ToolSpec


def offer(name: str, origin: str = "dist") -> Offer:
    async def run(call: Call) -> Output:
        return Output.of_text(origin)

    return Offer(spec=ToolSpec(name=name), run=run, origin=origin)


def bundle(code: str, *offers: Offer, kind: KindName = "native") -> Bundle:
    return Bundle(code=code, kind=kind, offers=offers)


def test_the_same_tool_under_two_codes_appears_once() -> None:
    """Registering one tool under several codes is no clash."""
    shared = offer("read")
    names = Names()

    names.add(bundle("base", shared), capability_id=1)
    names.add(bundle("rag", shared), capability_id=2)

    assert list(names.tools) == ["read"]
    assert names.absences == []


def test_of_two_python_tools_the_first_wins_and_the_loser_names_both() -> None:
    """PrimeThink's rule: code order decides, and nobody is lost silently."""
    names = Names()

    names.add(bundle("one", offer("read", "dist-a 1.0")), capability_id=1)
    names.add(bundle("two", offer("read", "dist-b 2.0"), kind="api"), capability_id=2)

    assert names.tools["read"].origin == "dist-a 1.0"
    assert [(a.stage, a.ref, a.tool) for a in names.absences] == [("name", "api:two/read", "read")]
    assert "native:one/read" in names.absences[0].reason
    assert "dist-b 2.0" in names.absences[0].reason


def test_a_tool_of_a_server_is_offered_under_its_code_instead() -> None:
    """Tools of servers, packages and documents keep their name where it is free."""
    names = Names()

    names.add(bundle("one", offer("read")), capability_id=1)
    names.add(bundle("files", offer("read"), offer("list"), kind="mcp"), capability_id=2)

    assert {name: tool.ref for name, tool in names.tools.items()} == {
        "read": "native:one/read",
        "files__read": "mcp:files/read",
        "list": "mcp:files/list",
    }
    assert names.absences == []


def test_a_tool_with_a_broken_schema_is_left_out_alone() -> None:
    """One bad schema does not hide its neighbours."""
    bad = Offer(spec=ToolSpec(name="bad", input_schema={"type": 5}), run=offer("x").run, origin="d")
    names = Names()

    names.add(bundle("one", bad, offer("good")), capability_id=1)

    assert list(names.tools) == ["good"]
    assert [(a.stage, a.tool) for a in names.absences] == [("source", "bad")]


def test_what_a_source_skipped_is_passed_on() -> None:
    """A source's own skips reach the user with their reason."""
    names = Names()
    skip = Skip(ref="native:one/odd", reason="not a tool", fix="Register a tool.")

    names.add(Bundle(code="one", kind="native", skipped=(skip,)), capability_id=1)

    assert [absence.as_skip() for absence in names.absences] == [skip]


@given(
    st.from_regex(r"[a-z][a-z0-9_]{0,60}", fullmatch=True),
    st.text("abc_-9", min_size=1, max_size=80),
)
def test_qualified_names_are_short_and_stable(code: str, name: str) -> None:
    """At most 64 characters, the same every time."""
    assert len(qualified(code, name)) <= MAX_NAME
    assert qualified(code, name) == qualified(code, name)


def test_long_names_that_begin_alike_stay_apart() -> None:
    """The hash inside the limit keeps what was cut."""
    assert qualified("c", "x" * 80 + "a") != qualified("c", "x" * 80 + "b")
