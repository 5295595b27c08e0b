"""This module explains one tool to one caller: which rule shows it, or which one keeps it away."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from toolcrib.resolution.toolset import Absence, ResolvedTool, Stage, Toolset

StepVerdict = Literal["passed", "stopped"]
_ORDER: tuple[Stage, ...] = get_args(Stage)
_PASSED: dict[Stage, str] = {
    "agent": "the agent is within reach",
    "capability": "a live capability of the agent names the code",
    "grant": "the capability may be used",
    "code": "a loaded plugin registers the code",
    "condition": "its conditions hold in this chat",
    "setting": "every setting it needs has a value",
    "source": "its source offers it",
    "selection": "the agent's tools_config leaves it on",
    "name": "its name is its own",
    "hold": "its definition is accepted",
}
_CODE = {
    "native": _PASSED["code"],
    "package": "a package of that slug is installed",
}
"""What the step `code` found, by the kind that a ref begins with."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ExplainStep:
    step: Stage
    verdict: StepVerdict
    detail: str

    def as_json(self) -> dict[str, str]:
        return {"step": self.step, "verdict": self.verdict, "detail": self.detail}


@dataclass(frozen=True, kw_only=True, slots=True)
class Explanation:
    """`steps` end with the one that decided."""

    visible: bool
    steps: Sequence[ExplainStep]


def explain(toolset: Toolset, tool: str, *, codes_of_tool: Sequence[str] = ()) -> Explanation:
    """Explain the tool of this exposed name, ref or code.

    `codes_of_tool` are registered codes that have such a tool and that the caller may know of.
    """
    found = _found(toolset, tool)
    if found is not None:
        return Explanation(visible=True, steps=_passed_all(found, toolset))
    absence = _absence(toolset, tool, codes_of_tool)
    if absence is not None:
        return Explanation(visible=False, steps=_stopped(absence))
    return Explanation(visible=False, steps=_not_granted(tool, codes_of_tool))


def _found(toolset: Toolset, tool: str) -> ResolvedTool | None:
    named = toolset.find(tool)
    if named is not None and named.hold is not None:
        return None
    return named or next((t for t in toolset.tools.values() if t.ref == tool), None)


def _absence(toolset: Toolset, tool: str, codes: Sequence[str]) -> Absence | None:
    for absence in toolset.absences:
        if tool in {absence.tool, absence.ref}:
            return absence
    for absence in toolset.absences:
        held = {c.strip() for c in (absence.code or "").split(",")}
        if tool in held or held & set(codes):
            return absence
    return None


def _passed_all(tool: ResolvedTool, toolset: Toolset) -> list[ExplainStep]:
    details = _details(tool.ref)
    holder = f"capability {tool.capability_id} of the agent" if tool.capability_id else "the agent"
    details["capability"] = f"{holder} names {tool.code!r}"
    details["source"] = f"{tool.origin or tool.ref} offers it"
    details["name"] = f"it is offered as {tool.name!r}"
    if tool.name not in toolset.offered:
        through = " and ".join(toolset.offered)
        details["name"] += f", through {through}: this agent searches its tools"
    return [ExplainStep(step=s, verdict="passed", detail=details[s]) for s in _ORDER]


def _stopped(absence: Absence) -> list[ExplainStep]:
    place = _ORDER.index(absence.stage)
    details = _details(absence.ref)
    passed = [ExplainStep(step=s, verdict="passed", detail=details[s]) for s in _ORDER[:place]]
    detail = f"{absence.reason}. {absence.fix}".strip()
    return [*passed, ExplainStep(step=absence.stage, verdict="stopped", detail=detail)]


def _details(ref: str) -> dict[Stage, str]:
    kind = ref.partition(":")[0]
    return {**_PASSED, "code": _CODE.get(kind, "the capability itself says where its tools are")}


def _not_granted(tool: str, codes: Sequence[str]) -> list[ExplainStep]:
    detail = f"no capability of this agent offers {tool!r}."
    if codes:
        detail += f" It is registered under {', '.join(codes)}: give the agent a capability of it."
    else:
        detail += " Look at the agent's skipped tools, or at the plugins' status."
    return [
        ExplainStep(step="agent", verdict="passed", detail=_PASSED["agent"]),
        ExplainStep(step="capability", verdict="stopped", detail=detail),
    ]
