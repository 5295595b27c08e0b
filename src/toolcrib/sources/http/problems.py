"""This module collects what is wrong with a definition, all of it, with places."""

from __future__ import annotations

from toolcrib.errors import InvalidOptions
from toolcrib.tools.source import Finding


class Problems:
    """Findings in the order they were met."""

    def __init__(self) -> None:
        self.findings: list[Finding] = []

    def error(self, where: str, message: str) -> None:
        self.findings.append(Finding(where=where, message=message))

    def warn(self, where: str, message: str) -> None:
        self.findings.append(Finding(where=where, message=message, severity="warning"))

    def caught(self, error: InvalidOptions, where: str) -> None:
        """A refusal of a deeper part as a finding."""
        message = error.message if error.hint is None else f"{error.message} {error.hint}"
        self.error(error.where or where, message)

    @property
    def errors(self) -> list[Finding]:
        return [finding for finding in self.findings if finding.severity == "error"]

    def raise_first(self) -> None:
        """Raises InvalidOptions for the first error; the rest is counted."""
        errors = self.errors
        if errors:
            more = f" ({len(errors) - 1} more)" if len(errors) > 1 else ""
            raise InvalidOptions(errors[0].message + more, where=errors[0].where)
