"""This module says how the activation of a tool went."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any


class ActivationErrorType(Enum):
    TOOL_NOT_FOUND = "tool_not_found"
    BLOCKED_BY_CONFIG = "blocked_by_config"
    DEPENDENCY_MISSING = "dependency_missing"
    CYCLIC_DEPENDENCY = "cyclic_dependency"
    IMPORT_ERROR = "import_error"
    INIT_FAILED = "init_failed"
    ALREADY_ACTIVATED = "already_activated"
    PARAMETER_ERROR = "parameter_error"


_FINAL = {
    ActivationErrorType.BLOCKED_BY_CONFIG,
    ActivationErrorType.CYCLIC_DEPENDENCY,
    ActivationErrorType.TOOL_NOT_FOUND,
}
"""Errors that another try would only repeat."""


@dataclass(frozen=True, slots=True)
class ActivationSuccess:
    tool_name: str
    load_time_ms: float
    dependencies_loaded: Sequence[str] | None = None
    function_count: int | None = None


@dataclass(frozen=True, slots=True)
class ActivationError:
    error_type: ActivationErrorType
    message: str
    tool_name: str
    details: Mapping[str, Any] | None = None

    def to_user_message(self) -> str:
        """One line for a model or a person."""
        return f"{self.tool_name}: {self.message}"

    def is_retryable(self) -> bool:
        return self.error_type not in _FINAL


ActivationResult = ActivationSuccess | ActivationError


@dataclass(frozen=True, slots=True)
class BatchActivationResult:
    successful: Sequence[ActivationSuccess] = ()
    failed: Sequence[ActivationError] = ()
    total_time_ms: float = 0.0
    skipped: Sequence[str] = field(default_factory=tuple)
    """Dependencies that were not loaded because the configuration blocks them or they are not
    installed."""

    @property
    def success_rate(self) -> float:
        """In percent; of nothing it is 0."""
        total = len(self.successful) + len(self.failed)
        return 100.0 * len(self.successful) / total if total else 0.0

    def get_activated_tools(self) -> list[str]:
        return [one.tool_name for one in self.successful]

    def get_failed_tools(self) -> list[str]:
        return [one.tool_name for one in self.failed]
