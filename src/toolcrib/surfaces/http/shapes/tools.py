"""This module shapes an agent's tools, their calls and explanations."""

from __future__ import annotations

from typing import Any, Self

from pydantic import Field

from toolcrib.invocation.flight import Outcome
from toolcrib.resolution.explain import Explanation
from toolcrib.resolution.toolset import ResolvedTool, Toolset
from toolcrib.surfaces.http.shapes.fields import Body, IdField, JsonObject, Row
from toolcrib.tools.source import Preview


class CallBody(Body):
    arguments: Any = Field(default=None, description="An object; null means no arguments.")
    chat_id: IdField | None = None
    chat_uuid: str | None = Field(default=None, max_length=64)
    context: JsonObject | None = None


class PreviewBody(Body):
    arguments: Any = Field(default=None, description="An object; null means no arguments.")
    chat_id: IdField | None = None


class PreviewAnswer(Row):
    """The exact request that a call would send, masked; nothing was sent."""

    request: JsonObject
    egress: JsonObject
    missing: list[str]

    @classmethod
    def of(cls, preview: Preview) -> Self:
        return cls(
            request=dict(preview.request),
            egress=dict(preview.egress),
            missing=list(preview.missing),
        )


class ErrorRow(Row):
    code: str
    message: str


class CallAnswer(Row):
    """What a call gave back. A failed tool is an answer with an `error`."""

    call_id: str
    success: bool
    text: str
    content: list[JsonObject]
    structured: Any
    error: ErrorRow | None
    truncated: bool
    duration_ms: float


class ToolRow(Row):
    name: str
    description: str
    input_schema: JsonObject
    ref: str
    source: str
    annotations: JsonObject


class SkipRow(Row):
    ref: str
    reason: str
    fix: str


class ToolsAnswer(Row):
    tools: list[ToolRow]
    delegations: list[JsonObject]
    skipped: list[SkipRow]


class ExplainStepRow(Row):
    step: str
    verdict: str
    detail: str


class ExplainAnswer(Row):
    visible: bool
    steps: list[ExplainStepRow]


def call_answer(outcome: Outcome) -> JsonObject:
    """The JSON of a CallAnswer, made without checking what a tool gave once more."""
    output = outcome.output
    return {
        "call_id": outcome.call_id,
        "success": output.success,
        "text": output.text,
        "content": [part.as_json() for part in output.parts],
        "structured": output.structured,
        "error": output.error and output.error.as_json(),
        "truncated": output.truncated,
        "duration_ms": outcome.duration_ms,
    }


def tools_answer(toolset: Toolset) -> JsonObject:
    return {
        "tools": [_tool(tool) for tool in toolset.offered.values()],
        "delegations": [dict(one) for one in toolset.delegations],
        "skipped": [skip.as_json() for skip in toolset.skipped],
    }


def explain_answer(explanation: Explanation) -> JsonObject:
    return {
        "visible": explanation.visible,
        "steps": [step.as_json() for step in explanation.steps],
    }


def _tool(tool: ResolvedTool) -> JsonObject:
    return {
        "name": tool.name,
        "description": tool.spec.description,
        "input_schema": tool.input_schema,
        "ref": tool.ref,
        "source": tool.kind,
        "annotations": tool.spec.annotations.as_json(),
    }
