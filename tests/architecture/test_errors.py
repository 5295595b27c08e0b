"""The error tree: the drawing in the docstring is the truth."""

from __future__ import annotations

import inspect
import re

from toolcrib import errors
from toolcrib.errors import ToolcribError

LINE = re.compile(r"^(?P<indent>[ │]*)(?:[├└]── )?(?P<name>[A-Z]\w+)(?:\s{2,}\S.*)?$")


def drawn() -> dict[str, str]:
    """Class name → parent's name, as the docstring draws it."""
    found: dict[str, str] = {}
    open_branches: list[tuple[int, str]] = []
    for line in (errors.__doc__ or "").splitlines():
        match = LINE.match(line)
        if not match or not line.startswith("    "):
            continue
        depth = line.index(match["name"])
        while open_branches and open_branches[-1][0] >= depth:
            open_branches.pop()
        found[match["name"]] = open_branches[-1][1] if open_branches else "Exception"
        open_branches.append((depth, match["name"]))
    return found


def written() -> dict[str, str]:
    """Class name → parent's name, as the code has it."""
    return {
        name: kind.__mro__[1].__name__
        for name, kind in inspect.getmembers(errors, inspect.isclass)
        if issubclass(kind, ToolcribError)
    }


def test_every_class_stands_in_the_tree():
    """The drawing has every class below its real parent, and nothing else."""
    assert drawn() == written()


def test_every_class_has_a_code_and_a_sentence():
    """`code` is a stable word for surfaces; the docstring is the message when none is given."""
    for name in written():
        kind: type[ToolcribError] = getattr(errors, name)
        assert re.fullmatch(r"[a-z]+(_[a-z]+)*", kind.code), name
        assert str(kind()) == (kind.__doc__ or "").strip().splitlines()[0]
        assert str(kind()).endswith("."), name


def test_text_names_the_place_and_the_hint():
    """An error reads as one line: message, place, hint."""
    error = ToolcribError("The code 'X' is odd.", where="code", hint="Use a-z.")
    assert str(error) == "The code 'X' is odd. (at code) Use a-z."
