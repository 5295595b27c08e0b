"""The reference: what it says about the code is what the code is."""

from __future__ import annotations

import itertools
import re
import subprocess
import sys

from tests.docs.pages import TOP
from toolcrib.settings import Settings
from toolcrib.sources.http.api_options import OPTIONS
from toolcrib.sources.http.fields import FIELD_KEYS
from toolcrib.sources.http.package_document import CONFIG_KEYS, FIELDS


def test_generated_pages_are_current():
    """Writing the pages again changes nothing; `script/check --fix` writes them."""
    done = subprocess.run(
        [sys.executable, "docs/generate.py", "--check"],
        cwd=TOP,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_every_setting_is_described():
    """The page has one row for each setting, with a meaning."""
    page = (TOP / "docs" / "reference" / "settings.md").read_text()
    rows = [line.split(" | ") for line in page.splitlines() if line.startswith("| `TOOLCRIB_")]
    described = [row[0].strip("| `") for row in rows if len(row[3].strip("| ")) > 10]
    assert described == [f"TOOLCRIB_{name.upper()}" for name in Settings.model_fields]


def first_column(page: str, heading: str) -> set[str]:
    """The names in the first column of the first table below a heading of a reference page."""
    text = (TOP / "docs" / "reference" / page).read_text().partition(f"\n## {heading}\n")[2]
    rows = itertools.takewhile(
        lambda line: line.startswith("|"),
        itertools.dropwhile(lambda line: not line.startswith("|"), text.splitlines()),
    )
    return {cell for row in rows for cell in re.findall(r"`(\w+)`", row.split("|")[1])}


def test_the_page_of_packages_has_every_field():
    """Its tables name the fields and the keys that are read, and no others."""
    assert first_column("package.md", "Fields") == set(FIELDS)
    assert first_column("package.md", "Config of type `http`") == set(CONFIG_KEYS["http"][1])
    mcp = set[str]().union(*(known for kind, (_, known) in CONFIG_KEYS.items() if kind != "http"))
    assert first_column("package.md", "Config of the MCP types") == mcp


def test_the_page_of_api_options_has_every_option():
    """So does the page of a capability's options."""
    assert first_column("api-capability-options.md", "Options") == OPTIONS
    assert first_column("api-capability-options.md", "Fields") == FIELD_KEYS
