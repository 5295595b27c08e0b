"""This module gives tests a Python environment of their own, where the real program runs and real
packages may be installed."""

from __future__ import annotations

import json
import os
import site
import subprocess
import sys
import sysconfig
import tempfile
import venv
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path

from tests.support.veil import plugins_in, veiled


@dataclass(frozen=True, kw_only=True)
class Program:
    """The command line in an environment, a home and a data directory of a test's own."""

    python: Path
    home: Path
    data_dir: Path
    extra: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def environment(self) -> dict[str, str]:
        return {
            **os.environ,
            "HOME": str(self.home),
            "TOOLCRIB_DATA_DIR": str(self.data_dir),
            "PATH": f"{self.python.parent}{os.pathsep}{os.environ['PATH']}",
            "COLUMNS": "120",
            **self.extra,
        }

    def run(
        self,
        *arguments: str,
        stdin: str = "",
        cwd: Path | None = None,
        extra: Mapping[str, str] | None = None,
    ) -> subprocess.CompletedProcess[str]:
        """Run `toolcrib` to its end."""
        return subprocess.run(
            self.command(*arguments),
            input=stdin,
            capture_output=True,
            text=True,
            timeout=100,
            cwd=cwd or self.home,
            env={**self.environment, **(extra or {})},
            check=False,
        )

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """Start `toolcrib` and let it run; the test ends it."""
        return subprocess.Popen(
            self.command(*arguments),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=self.home,
            env=self.environment,
            start_new_session=True,
        )

    def command(self, *arguments: str) -> Sequence[str]:
        return [str(self.python.parent / "toolcrib"), *arguments]


def make_environment(folder: Path) -> Path:
    """A virtual environment that sees what is installed here but plugins, and installs into itself.

    Returns its Python. It has `toolcrib` as a script, as an installation would.
    """
    venv.create(folder, with_pip=False, symlinks=True)
    bin_dir = folder / "bin"
    base = {"base": str(folder), "platbase": str(folder)}
    packages = Path(sysconfig.get_path("purelib", "venv", base))
    # A .pth line that is code runs `addsitedir`, so that editable installs count too.
    shared = [str(veiled(Path(path))) for path in site.getsitepackages()]
    lines = [f"import site; site.addsitedir({path!r})" for path in shared]
    (packages / "_shared.pth").write_text("\n".join(lines) + "\n")
    python = bin_dir / "python"
    script = bin_dir / "toolcrib"
    script.write_text(
        f"#!{python}\nimport sys\nfrom toolcrib.cli import main\n"
        'if __name__ == "__main__":\n    sys.exit(main())\n'
    )
    script.chmod(0o755)
    return python


@cache
def plain_python() -> Path:
    """A Python that sees what is installed here but plugins: this one, where there are none."""
    if not any(plugins_in(Path(path)) for path in site.getsitepackages()):
        return Path(sys.executable)
    return make_environment(Path(tempfile.mkdtemp(prefix="toolcrib-plain-")))


@dataclass(frozen=True, kw_only=True)
class Job:
    """A command for `run_many`. `environment` comes on top of the program's."""

    arguments: Sequence[str]
    stdin: str = ""
    cwd: str = "."
    environment: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, kw_only=True)
class Result:
    code: int
    stdout: str
    stderr: str


def run_many(program: Program, jobs: Sequence[Job]) -> list[Result]:
    """Run many commands, each in a process that begins with everything imported: a tenth of the
    time that as many starts of the program take."""
    done = subprocess.run(
        [program.python, Path(__file__).with_name("warm.py")],
        input=json.dumps([asdict(job) for job in jobs]),
        capture_output=True,
        text=True,
        env=program.environment,
        cwd=program.home,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [Result(**one) for one in json.loads(done.stdout)]


def install(python: Path, package: Path) -> None:
    """Install a real distribution into an environment, as a person would."""
    done = subprocess.run(
        [python, "-m", "pip", "install", "--quiet", str(package)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def make_program(folder: Path, *, python: Path | None = None, **extra: str) -> Program:
    """A program with an empty home below `folder`; with `python` in that environment."""
    home = folder / "home"
    home.mkdir(parents=True)
    return Program(
        python=python or plain_python(),
        home=home,
        data_dir=folder / "data",
        extra=extra,
    )
