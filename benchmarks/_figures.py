"""Figures of one benchmark: printed as a table with their targets, or as JSON."""

from __future__ import annotations

import json
from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True)
class Figure:
    """One measured number. `most` and `least` are its targets; None: there is none."""

    name: str
    value: float
    unit: str
    most: float | None = None
    least: float | None = None
    note: str = ""

    @property
    def verdict(self) -> str:
        if self.most is None and self.least is None:
            return ""
        high = self.most is not None and self.value > self.most
        low = self.least is not None and self.value < self.least
        return "MISSED" if high or low else "ok"

    @property
    def target(self) -> str:
        if self.most is not None and self.least is not None:
            return f"target {self.least:g}-{self.most:g}"
        if self.least is not None:
            return f"target ≥{self.least:g}"
        return "" if self.most is None else f"target {self.most:g}"


@dataclass
class Figures:
    """All of them, in order."""

    figures: list[Figure] = field(default_factory=list)

    def add(
        self,
        name: str,
        value: float,
        unit: str,
        *,
        most: float | None = None,
        least: float | None = None,
        note: str = "",
    ):
        self.figures.append(
            Figure(name=name, value=value, unit=unit, most=most, least=least, note=note)
        )

    def show(self, *, as_json: bool) -> None:
        if as_json:
            print(json.dumps([vars(f) | {"verdict": f.verdict} for f in self.figures], indent=2))
            return
        width = max(len(f.name) for f in self.figures)
        for f in self.figures:
            head = f"{f.name:{width}} {f.value:10.3f} {f.unit:6}"
            line = f"{head} {f.target:14} {f.verdict:7}{f.note}"
            print(line.rstrip())
