"""Figures of one benchmark: printed as a table with their targets, or as JSON."""

from __future__ import annotations

import json
from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True)
class Figure:
    """One measured number. `most` is its target; None: there is none."""

    name: str
    value: float
    unit: str
    most: float | None = None
    note: str = ""

    @property
    def verdict(self) -> str:
        if self.most is None:
            return ""
        return "ok" if self.value <= self.most else "MISSED"


@dataclass
class Figures:
    """All of them, in order."""

    figures: list[Figure] = field(default_factory=list)

    def add(self, name: str, value: float, unit: str, *, most: float | None = None, note: str = ""):
        self.figures.append(Figure(name=name, value=value, unit=unit, most=most, note=note))

    def show(self, *, as_json: bool) -> None:
        if as_json:
            print(json.dumps([vars(f) | {"verdict": f.verdict} for f in self.figures], indent=2))
            return
        width = max(len(f.name) for f in self.figures)
        for f in self.figures:
            target = "" if f.most is None else f"target {f.most:g}"
            line = f"{f.name:{width}} {f.value:10.3f} {f.unit:6} {target:14} {f.verdict:7}{f.note}"
            print(line.rstrip())
