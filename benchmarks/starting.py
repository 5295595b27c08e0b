"""Starting: what `import toolcrib` costs, and how soon a server answers on an existing database.

    python benchmarks/starting.py [--rounds 5] [--json]

Each measurement is a process of its own. The import's time is taken inside the interpreter, the
server's from its start to the first answer of /healthz. Modules are compiled once, beforehand, as
they are by an installer: where the environment forbids it, only here is it allowed.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from statistics import median

from _figures import Figures

CACHE = Path(__file__).resolve().parent.parent / ".cache" / "bench"
HEAVY = ("langchain", "langchain_core", "fastapi", "sqlalchemy", "pydantic", "aiohttp")
STATEMENTS = {
    "import toolcrib": 50.0,
    "from toolcrib import register_tools, capability": 50.0,
    "from toolcrib import open_platform": None,
    "import toolcrib.asgi": None,
    "from toolcrib.langchain import get_tools_from_capabilities": None,
}


def compiled() -> dict[str, str]:
    """The environment of a process that keeps what it compiled."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, "PYTHONPYCACHEPREFIX": str(CACHE / "pyc")}


def imported(statement: str) -> tuple[float, float, set[str]]:
    """Milliseconds and CPU milliseconds of a statement in a fresh interpreter, and its modules."""
    program = (
        "import sys, time; before = set(sys.modules)\n"
        "began, used = time.perf_counter(), time.process_time()\n"
        f"{statement}\n"
        "took, used = time.perf_counter() - began, time.process_time() - used\n"
        "modules = sorted(set(sys.modules) - before); import json\n"
        "print(json.dumps([took * 1000, used * 1000, modules]))"
    )
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, env=compiled(), capture_output=True, check=True)
    took, used, modules = json.loads(done.stdout)
    return took, used, set(modules)


def imports(figures: Figures, rounds: int) -> None:
    for statement, most in STATEMENTS.items():
        found = [imported(statement) for _ in range(rounds + 1)][1:]  # the first one compiles
        modules = found[0][2]
        heavy = [name for name in HEAVY if name in modules]
        cpu = median(used for _, used, _ in found)
        note = f"{cpu:.1f} ms CPU, {len(modules)} modules, {', '.join(heavy) or 'none heavy'}"
        figures.add(statement, median(took for took, _, _ in found), "ms", most=most, note=note)
        if most is not None:
            assert not heavy, f"{statement} loads {heavy}"


def served(data_dir: Path) -> tuple[float, float]:
    """Seconds from starting the server to its first answer, and its CPU seconds by then."""
    env = {**compiled(), "TOOLCRIB_DATA_DIR": str(data_dir), "TOOLCRIB_LOG_LEVEL": "error"}
    command = [sys.executable, "-m", "toolcrib.cli", "serve", "--port", "0", "--json"]
    began = time.perf_counter()
    with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True) as server:
        try:
            url = address(server)
            while True:
                with contextlib.suppress(OSError):
                    with urllib.request.urlopen(f"{url}/healthz", timeout=5) as answer:  # noqa: S310
                        assert answer.status == 200
                    return time.perf_counter() - began, cpu_of(server.pid)
                time.sleep(0.005)
        finally:
            server.terminate()


def cpu_of(pid: int) -> float:
    """CPU seconds of a process so far; 0 where there is no /proc."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def address(server: subprocess.Popen[str]) -> str:
    """The URL out of the JSON that the server prints first."""
    text = ""
    assert server.stdout is not None
    for line in server.stdout:
        text += line
        with contextlib.suppress(ValueError):
            return json.loads(text)["url"]
    raise RuntimeError(f"The server said no address: {text!r}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    figures = Figures()
    imports(figures, options.rounds)
    with tempfile.TemporaryDirectory(prefix="toolcrib-bench-") as folder:
        served(Path(folder))  # makes the database
        found = [served(Path(folder)) for _ in range(options.rounds)]
    took, used = median(took for took, _ in found), median(used for _, used in found)
    what = "serve to /healthz, existing database"
    figures.add(what, took, "s", most=1.5)
    figures.add(f"{what}: CPU", used, "s", note="what it would take with nothing else running")
    figures.show(as_json=options.json)


if __name__ == "__main__":
    main()
