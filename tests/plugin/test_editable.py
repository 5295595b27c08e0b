"""Editable installs: Python reads their paths when it starts, and a report says what to do."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.packages import lay_out
from toolcrib.plugin.discovery import Plugins
from toolcrib.plugin.registration import Registry

ADVICE = "; restart, if `pip install -e` was run after the start"
LACKS = "ModuleNotFoundError: No module named 'e_{}'"


@pytest.mark.parametrize(
    ("editable", "missing", "advice"),
    [(True, "plugin", ADVICE), (True, "dependency", ""), (False, "plugin", "")],
)
async def test_editable_installs_want_a_restart(
    site: Path, registry: Registry, editable: bool, missing: str, advice: str
) -> None:
    """Only where the plugin itself cannot be found, and was installed that way."""
    files = {"e_plugin.py": "import e_dependency\n"} if missing == "dependency" else {}
    info = lay_out(
        site,
        "e-plugin",
        files=files,
        entry_points={"toolcrib.tools": {"work": "e_plugin:register"}},
    )
    url = {"url": "file:///somewhere", "dir_info": {"editable": editable}}
    (info / "direct_url.json").write_text(json.dumps(url))
    reports = await Plugins(registry).load()
    assert [(r.name, r.status, r.error) for r in reports] == [
        ("work", "failed", LACKS.format(missing) + advice)
    ]
