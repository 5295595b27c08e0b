"""A plugin that fails is one line to commands that are about something else."""

from __future__ import annotations

from pathlib import Path

from tests.support.environments import make_program
from tests.support.packages import lay_out


def test_a_bad_plugin_is_one_line(tmp_path: Path):
    """It is named once, without a stack trace: `plugins check` has that, and the debug level."""
    site = tmp_path / "site"
    site.mkdir()
    lay_out(
        site,
        "plugin-raises",
        files={"plugin_raises.py": "raise RuntimeError('no luck')"},
        entry_points={"toolcrib.tools": {"raises": "plugin_raises:register"}},
    )
    program = make_program(tmp_path, PYTHONPATH=str(site))
    done = program.run("plugins", "list")
    assert done.returncode == 0
    [line] = [one for one in done.stderr.splitlines() if "'raises'" in one]
    assert "RuntimeError: no luck" in line
    assert "Traceback" not in done.stderr
    shown = program.run("plugins", "list", extra={"TOOLCRIB_LOG_LEVEL": "debug"})
    assert "Traceback" in shown.stderr
