"""What stands between a tool and its user is said in the words of its source."""

from __future__ import annotations

import pytest

from toolcrib.resolution.explain import explain
from toolcrib.resolution.toolset import Absence, Toolset


@pytest.mark.parametrize(
    ("ref", "words"),
    [
        ("native:parts/find", "a loaded plugin registers the code"),
        ("package:installed__find/find", "a package of that slug is installed"),
        ("mcp:6", "the capability itself says where its tools are"),
        ("api:weather/weather", "the capability itself says where its tools are"),
    ],
)
def test_the_code_is_explained_by_its_source(ref: str, words: str) -> None:
    """Nobody is told of a plugin where there is none."""
    absence = Absence(stage="source", ref=ref, reason="it is away", fix="Wait.", tool="find")
    found = explain(Toolset(tools={}, absences=(absence,)), "find")
    assert {step.step: step.detail for step in found.steps}["code"] == words
