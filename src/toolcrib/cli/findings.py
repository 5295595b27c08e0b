"""This module holds what an examination finds: what was looked at, how it is, what mends it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Status = Literal["ok", "note", "problem"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """`note` is worth knowing and nothing to mend."""

    check: str
    status: Status
    detail: str
    fix: str = ""

    def as_json(self) -> dict[str, str]:
        return {
            "check": self.check,
            "status": self.status,
            "detail": self.detail,
            "fix": self.fix,
        }


def ok(check: str, detail: str) -> Finding:
    return Finding(check=check, status="ok", detail=detail)


def note(check: str, detail: str, fix: str = "") -> Finding:
    return Finding(check=check, status="note", detail=detail, fix=fix)


def problem(check: str, detail: str, fix: str) -> Finding:
    return Finding(check=check, status="problem", detail=detail, fix=fix)
