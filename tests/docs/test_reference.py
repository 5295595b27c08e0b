"""The reference: what it says about the code is what the code is."""

from __future__ import annotations

import subprocess
import sys

from tests.docs.pages import TOP
from toolcrib.settings import Settings


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
