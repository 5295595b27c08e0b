"""This module writes the pages of docs/reference that repeat what the code says.

`python docs/generate.py` writes them; with `--check` it only says which are out of date, and
ends with 1 when one is.
"""

from __future__ import annotations

import ast
import inspect
import itertools
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args, get_origin

import built_in_tools
import command_line
import rest_interface
from pydantic import SecretStr
from pydantic.fields import FieldInfo

from toolcrib import errors
from toolcrib.errors import ToolcribError
from toolcrib.settings import Settings

REFERENCE = Path(__file__).parent / "reference"
NOTE = "<!-- Written by docs/generate.py from the code; script/check --fix writes it again. -->"


def settings_page() -> str:
    """Every environment variable with its default and what it does."""
    notes = attribute_docstrings(Settings)
    rows = [
        row(f"`{variable(name)}`", kind(field.annotation), default(name, field), notes[name])
        for name, field in Settings.model_fields.items()
    ]
    return page(
        "Settings",
        "The installation is configured by environment variables alone. Lists are separated by "
        "commas. (The [command line](command-line.md) also knows `TOOLCRIB_URL` and "
        "`TOOLCRIB_TOKEN`: the remote server to speak to, and the token to speak with.)",
        [row("Variable", "Kind", "Default", "Meaning"), "|---|---|---|---|", *rows],
    )


def errors_page() -> str:
    """Every error class with its code and meaning."""
    rows = [
        row(f"`{one.__name__}`", f"`{one.code}`", f"`{one.__mro__[1].__name__}`", first_line(one))
        for one in error_classes()
    ]
    return page(
        "Errors",
        "Errors are grouped by who must act. `code` is what REST answers and call results show; it "
        "does not change between versions. All live in `toolcrib.errors`.",
        [row("Class", "Code", "Is a", "Meaning"), "|---|---|---|---|", *rows],
    )


def command_line_page() -> str:
    """Every command with its options and an example."""
    opening = "`toolcrib` is one program with a noun for each thing, and a verb for what is done."
    return page("Command line", opening, command_line.lines())


def rest_page() -> str:
    """Every request with what it takes and answers."""
    opening = "Everything that can be done over HTTP."
    return page("REST", opening, rest_interface.lines())


def built_in_tools_page() -> str:
    """Every built-in code with its tools."""
    opening = (
        "What is in the box, by code. How to give it to agents, and what is not in it, is in "
        "[Use the tools in the box](../how-to/use-the-tools-in-the-box.md). The long instructions "
        "that a model reads are in each class's guide: `get_tool_usage_guide(name)`."
    )
    return page("Built-in tools", opening, built_in_tools.lines())


PAGES: dict[str, Callable[[], str]] = {
    "settings.md": settings_page,
    "errors.md": errors_page,
    "command-line.md": command_line_page,
    "rest.md": rest_page,
    "built-in-tools.md": built_in_tools_page,
}


def page(title: str, opening: str, body: list[str]) -> str:
    return "\n".join([f"# {title}", "", NOTE, "", opening, "", *body, ""])


def row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def variable(name: str) -> str:
    return f"TOOLCRIB_{name}".upper()


def kind(annotation: Any) -> str:
    """The type in an operator's words."""
    if get_args(annotation) and str(get_origin(annotation)).endswith("Literal"):
        return " or ".join(f"`{value}`" for value in get_args(annotation))
    if get_origin(annotation) is tuple:
        return "list"
    words = {str: "text", int: "number", float: "number", bool: "`0` or `1`", Path: "path"}
    return words.get(annotation, "secret" if annotation is SecretStr else str(annotation))


def default(name: str, field: FieldInfo) -> str:
    if name == "data_dir":
        return "`~/.local/share/toolcrib`"
    value = field.get_default()
    if value in ("", ()) or (isinstance(value, SecretStr) and not value.get_secret_value()):
        return "(empty)"
    return f"`{int(value)}`" if isinstance(value, bool) else f"`{value}`"


def attribute_docstrings(owner: type[Settings]) -> dict[str, str]:
    """The sentence below each annotated attribute of the class, as one line."""
    lines = ast.parse(inspect.getsource(owner)).body[0].body  # the class's own lines
    found: dict[str, str] = {}
    for line, below in itertools.pairwise(lines):
        match line, below:
            case (
                ast.AnnAssign(target=ast.Name(id=name)),
                ast.Expr(value=ast.Constant(value=str() as text)),
            ):
                found[name] = " ".join(text.split()).replace("|", "\\|")
    return found


def error_classes() -> list[type[ToolcribError]]:
    """In the order of the module, which is the order of the tree."""
    return [
        one
        for one in vars(errors).values()
        if isinstance(one, type) and issubclass(one, ToolcribError)
    ]


def first_line(owner: type) -> str:
    return (owner.__doc__ or "").strip().splitlines()[0]


def main(*, check: bool) -> int:
    stale: list[str] = []
    for name, write in PAGES.items():
        path = REFERENCE / name
        text = write()
        if path.is_file() and path.read_text() == text:
            continue
        stale.append(name)
        if not check:
            path.write_text(text)
    for name in stale:
        print(f"docs/reference/{name}: {'out of date' if check else 'written'}")
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main(check="--check" in sys.argv[1:]))
