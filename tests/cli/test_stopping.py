"""How a server hears that it shall stop: at any moment, by any signal, and it always ends."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import threading
from collections.abc import Sequence

import httpx
import pytest

from tests.support.environments import Program
from tests.support.packages import run_python
from tests.support.serving import serving, until

BOTH = (signal.SIGINT, signal.SIGTERM)


def started(program: Program, *options: str) -> tuple[subprocess.Popen[str], str]:
    """A server in the middle of its start: it has just said where it will be."""
    process = program.start("serve", "--port", "0", "--json", *options)
    assert process.stdout is not None
    told = ""
    for line in process.stdout:
        told += line
        if line.startswith("}"):
            break
    return process, json.loads(told)["url"]


def ended(process: subprocess.Popen[str]) -> tuple[int, bool]:
    """Its code, and whether it complained."""
    _, said = process.communicate(timeout=100)
    return process.returncode, "Traceback" in said or "ignored" in said


@pytest.mark.parametrize("moment", range(0, 400, 80))
@pytest.mark.parametrize("signals", [BOTH[:1], BOTH[1:], BOTH], ids=["INT", "TERM", "both"])
def test_at_moments_of_its_start(
    program: Program, moment: int, signals: Sequence[signal.Signals]
) -> None:
    """Once its address is known it ends in order, so many ms later too: 0, and no file is left."""
    process, _ = started(program)
    threading.Event().wait(moment / 1000)
    for one in signals:
        process.send_signal(one)
    assert ended(process) == (0, False)
    assert not (program.data_dir / "server.url").exists()


@pytest.mark.parametrize("how", BOTH)
def test_before_it_has_said_anything(program: Program, how: signal.Signals) -> None:
    """Nothing has to be tidied up yet: the signal ends it."""
    process = program.start("serve", "--port", "0", "--json")
    until(lambda: (program.data_dir / "toolcrib.db").exists() or process.poll() is not None)
    process.send_signal(how)
    code, _ = ended(process)
    assert code in {-how, 0}


def test_several_workers_that_start(program: Program) -> None:
    """They are told, and none is left."""
    process, url = started(program, "--workers", "2")
    process.terminate()
    assert ended(process) == (0, False)
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{url}/healthz", trust_env=False)


def test_twice_is_as_good_as_once(program: Program) -> None:
    """Who presses Ctrl-C again does not wait for requests; the end is in order all the same."""
    with serving(program) as server:
        server.process.send_signal(signal.SIGINT)
        assert server.stop(signal.SIGINT, within=100) == 0
        for reader in server.readers:
            reader.join()
        assert "Traceback" not in server.output
    assert not (program.data_dir / "server.url").exists()


def test_who_is_waited_for_is_told(program: Program) -> None:
    """A request in flight, here one whose body does not come: whoever pressed Ctrl-C is told why
    it takes a moment."""
    with serving(program) as server:
        _, _, host = server.url.rpartition("/")
        address, _, port = host.partition(":")
        with socket.create_connection((address, int(port)), timeout=60) as connection:
            head = f"POST /api/v1/chats HTTP/1.1\r\nHost: {host}\r\nContent-Length: 9\r\n"
            head += f"Authorization: Bearer {server.token}\r\nExpect: 100-continue\r\n\r\n"
            connection.sendall(head.encode())
            assert connection.recv(100).startswith(b"HTTP/1.1 100")
            server.process.send_signal(signal.SIGINT)
            until(lambda: "requests in flight" in server.output)
        assert server.process.wait(100) == 0
    assert "requests=1" in server.output


LOST = """
import os, signal, weakref
from toolcrib.cli.stopping import SIGNALS, Stop

class Thing:
    pass

stop = Stop()
for number in SIGNALS:
    thing = Thing()
    seen = weakref.ref(thing, lambda _: os.kill(os.getpid(), number))
    del thing  # what is raised in a callback of the interpreter is printed, and lost
heard = []
stop.tell(lambda number, _: heard.append(number))
print(heard == list(SIGNALS), stop.asked)
"""


def test_no_signal_is_lost() -> None:
    """Not even one that comes where an exception would be."""
    done = run_python(LOST)
    assert (done.stdout, done.stderr) == ("True True\n", "")


HANGS = """
import os, signal, threading
from toolcrib.cli.stopping import Stop

stop = Stop(longest=0.1)
os.kill(os.getpid(), signal.SIGTERM)
threading.Event().wait()  # something that does not come to an end
"""


def test_what_hangs_is_ended_and_named() -> None:
    """The last resort: the code is 1, and stderr says what it was doing."""
    done = run_python(HANGS)
    assert done.returncode == 1
    assert "in wait" in done.stderr


def test_a_signal_that_is_ignored_stays_so() -> None:
    """What `nohup` and shells do to background jobs holds until there is something to tidy up."""
    done = run_python(
        """
        import os, signal
        from toolcrib.cli.stopping import end_at_once
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        end_at_once()
        os.kill(os.getpid(), signal.SIGINT)
        print("goes on")
        """
    )
    assert done.stdout == "goes on\n"
