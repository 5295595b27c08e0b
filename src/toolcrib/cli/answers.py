"""This module holds what a command answers: data for programs, and the same for people."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from toolcrib.cli.words import Row, cell, heading, printable

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

_PIPED_WIDTH = 200
_HALF = re.compile(r"[\ud800-\udfff]")


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """`data` is what `--json` prints; `show` writes it for people."""

    data: Any
    show: Callable[[Console], None]
    exit_code: int = 0


def listed(
    page: Mapping[str, Any], *columns: str, empty: str = "Nothing here.", whole: str = ""
) -> Answer:
    """A page of a list: a table of these columns, and how to see more.

    Where the table does not fit, rows stand below each other, headed by what is `whole`: an id in
    pieces cannot be copied.
    """
    rows: Sequence[Row] = page["items"]

    def show(console: Console) -> None:
        if not rows:
            say(console, empty)
            return
        made = table(rows, *columns)
        endless = console.options.update(max_width=10_000)
        if whole and console.measure(made, options=endless).maximum > console.width:
            stacked(console, rows, *columns, whole=whole)
        else:
            console.print(made)
        if page.get("next_cursor"):
            say(console, f"There are more: --cursor {page['next_cursor']}")

    return Answer(data=page, show=show)


def record(row: Row, *, hide: Sequence[str] = ()) -> Answer:
    """One thing, a line for each field."""
    return Answer(data=row, show=lambda console: fields(console, row, hide=hide))


def said(text: str, data: Any, *, exit_code: int = 0) -> Answer:
    """A sentence for people."""
    return Answer(data=data, show=lambda console: say(console, text), exit_code=exit_code)


def show(answer: Answer, *, as_json: bool) -> None:
    """Write the answer to stdout."""
    if as_json:
        sys.stdout.write(as_text(answer.data) + "\n")
    else:
        answer.show(console())


def as_text(data: Any) -> str:
    """JSON, indented for a person who looks. Half characters, which no file holds, are escaped."""
    text = json.dumps(data, indent=2, ensure_ascii=False, default=str)
    return _HALF.sub(lambda half: f"\\u{ord(half[0]):04x}", text)


def console(*, stderr: bool = False) -> Console:
    """A console that neither colours nor cuts what goes to a file or another program."""
    from rich.console import Console  # noqa: PLC0415 - `--json` does without

    made = Console(stderr=stderr, highlight=False, markup=False, emoji=False)
    if not made.is_terminal:
        made.width = max(made.width, _PIPED_WIDTH)
    return made


def say(console: Console, text: str, *, style: str = "") -> None:
    console.print(printable(text), style=style, soft_wrap=True)


def table(rows: Sequence[Row], *columns: str) -> Table:
    from rich import box  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    made = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for column in columns:
        made.add_column(heading(column), overflow="fold")
    for row in rows:
        made.add_row(*(Text(cell(row.get(column))) for column in columns))
    return made


def stacked(console: Console, rows: Sequence[Row], *columns: str, whole: str) -> None:
    from rich.padding import Padding  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    for row in rows:
        say(console, cell(row.get(whole)), style="bold")
        others = (f"{heading(one)} {cell(row.get(one))}" for one in columns if one != whole)
        console.print(Padding(Text(", ".join(others)), (0, 0, 0, 2)))


def fields(console: Console, row: Row, *, hide: Sequence[str] = ()) -> None:
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="bold", no_wrap=True)
    grid.add_column(overflow="fold")
    for key, value in row.items():
        if key not in hide:
            grid.add_row(heading(key), Text(cell(value)))
    console.print(grid)
