"""This module lays out installed distributions as pip leaves them: modules and a `.dist-info`."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from collections.abc import Mapping
from pathlib import Path


def lay_out(
    site: Path,
    distribution: str,
    *,
    files: Mapping[str, str],
    entry_points: Mapping[str, Mapping[str, str]],
    version: str = "1.0",
) -> Path:
    """Put a distribution into a folder of the import path; returns its `.dist-info`.

    `entry_points` maps a group to names and values, as pyproject.toml does.
    """
    for name, text in files.items():
        path = site / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))
    info = site / f"{distribution.replace('-', '_')}-{version}.dist-info"
    info.mkdir(parents=True)
    info.joinpath("METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {distribution}\nVersion: {version}\n"
    )
    sections = (
        f"[{group}]\n" + "".join(f"{name} = {value}\n" for name, value in names.items())
        for group, names in entry_points.items()
    )
    info.joinpath("entry_points.txt").write_text("\n".join(sections))
    return info


def run_python(
    script: str, *paths: Path, timeout: float = 60, flags: tuple[str, ...] = ()
) -> subprocess.CompletedProcess[str]:
    """Run a script in a new interpreter that has these folders first on its path."""
    before = "".join(f"sys.path.insert(0, {str(path)!r})\n" for path in reversed(paths))
    return subprocess.run(  # noqa: PLW1510 - callers look at the code
        [sys.executable, *flags, "-c", "import sys\n" + before + textwrap.dedent(script)],
        capture_output=True,
        text=True,
        timeout=timeout,
    )
