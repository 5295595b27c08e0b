"""This program runs many commands, each in a process of its own that begins with everything
imported: `python warm.py < jobs.json > results.json`.

A job is `{arguments, stdin, cwd, environment}`, a result `{code, stdout, stderr}`. See
`tests.support.environments.run_many`.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any, NoReturn

import typer.rich_utils  # noqa: F401 - what the commands would import later
from langchain_core.tools import tool  # noqa: F401

import toolcrib.cli.demo_steps
import toolcrib.cli.examining
import toolcrib.cli.here  # noqa: F401
from toolcrib.cli import main


def child(job: dict[str, Any], folder: Path) -> NoReturn:
    for number, name in ((1, "stdout"), (2, "stderr")):
        os.dup2(os.open(folder / name, os.O_WRONLY | os.O_CREAT), number)
    (folder / "stdin").write_text(job["stdin"])
    os.dup2(os.open(folder / "stdin", os.O_RDONLY), 0)
    os.chdir(job["cwd"])
    os.environ.update(job["environment"])
    sys.stdin, sys.stdout, sys.stderr = (os.fdopen(n, m) for n, m in ((0, "r"), (1, "w"), (2, "w")))
    sys.argv[0] = "toolcrib"
    code = main(job["arguments"])
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def run(job: dict[str, Any]) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        pid = os.fork()
        if pid == 0:
            child(job, folder)
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        printed = {key: (folder / key).read_text() for key in ("stdout", "stderr")}
        return {"code": code, **printed}


if __name__ == "__main__":
    json.dump([run(job) for job in json.load(sys.stdin)], sys.stdout)
