"""Whoever runs commands in a sandbox gets nothing out of the machine, however they try."""

from __future__ import annotations

import asyncio
import os
import pwd
import socket
import time
from collections.abc import AsyncGenerator, Callable, Coroutine
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.support.services import missing
from tests.support.walls import SMALL, Attacker, attacker, isolation
from toolcrib.errors import CallRefused, InvalidArguments
from toolcrib.isolation.running import Ran
from toolcrib.isolation.sandboxes import AT_ONCE, Key

SECRET = "the-operator's-secret"


@pytest.fixture
async def mallory(tmp_path: Path) -> AsyncGenerator[Attacker]:
    isolation()
    one = attacker(tmp_path / "data" / "sandboxes")
    yield one
    await one.sandboxes.end(one.key)


def processes_with(word: str) -> list[str]:
    """Command lines on this machine that hold the word."""
    found: list[str] = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            except OSError:
                continue
            if word in line:
                found.append(line)
    return found


async def until(happened: Callable[[], bool]) -> None:
    """Ask again and again: nothing tells of another process. The test's own timeout ends it."""
    while not happened():  # noqa: ASYNC110
        await asyncio.sleep(0.02)


async def settled(running: Coroutine[Any, Any, Ran]) -> str:
    """How it ended, or that it was refused."""
    try:
        return (await running).ended
    except CallRefused:
        return "refused"


# --- what is the machine's ------------------------------------------------------------------------


async def test_files_of_the_machine_are_not_there(mallory: Attacker, tmp_path: Path) -> None:
    """Not those that everybody may read, not the vault's key, not the users of the machine."""
    key = tmp_path / "data" / "vault.key"
    key.parent.mkdir(exist_ok=True)
    open_file = tmp_path / "open"
    for path in (key, open_file):
        path.write_text(SECRET)
        path.chmod(0o644)
    root_home = pwd.getpwuid(0).pw_dir
    ran = await mallory.sh(
        f"cat {key} {open_file} /etc/shadow {root_home}/.bashrc /etc/hostname "
        f"/proc/1/root{open_file} "
        f"/proc/self/root{open_file} /workspace/../../../..{open_file}; cat /etc/passwd; "
        "ls / /root /home /var /etc/ssl /run /sys /boot 2>&1"
    )
    text = ran.output.text()
    assert SECRET not in text
    assert "root:" not in text
    assert "nobody:x:65534" in text
    assert text.count("No such file or directory") >= 8 + 6


async def test_the_environment_and_arguments_of_the_server_are_not_seen(
    mallory: Attacker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not in its own environment, and not in that of any process it can see."""
    monkeypatch.setenv("TOOLCRIB_VAULT_KEYS", SECRET)
    ran = await mallory.sh("env; cat /proc/*/environ | tr '\\0' '\\n'; cat /proc/*/cmdline")
    text = ran.output.text()
    assert SECRET not in text
    assert "TOOLCRIB" not in text
    assert "pytest" not in text
    assert {"HOME=/workspace", "USER=nobody"} <= set(text.splitlines())


async def test_no_descriptor_of_the_server_is_inherited(mallory: Attacker) -> None:
    """Only the three pipes, and none that leads to a folder outside."""
    ran = await mallory.py(
        "import os\n"
        "for n in os.listdir('/proc/self/fd'):\n"
        "    try: print(n, os.readlink(f'/proc/self/fd/{n}').split(':')[0])\n"
        "    except OSError: pass"
    )
    assert sorted(ran.output.text().splitlines()) == ["0 pipe", "1 pipe", "2 pipe"]


async def test_other_processes_cannot_be_reached(mallory: Attacker) -> None:
    """They are not seen, signalled or traced."""
    ran = await mallory.sh(
        f"kill -9 {os.getpid()}; ls -d /proc/{os.getpid()}; "
        f"python3 -c 'import ctypes,os; libc=ctypes.CDLL(None, use_errno=True); "
        "print(libc.ptrace(16, 1, 0, 0), ctypes.get_errno())'"
    )
    lines = ran.output.text().splitlines()
    assert any("No such process" in line for line in lines)
    assert any("No such file" in line for line in lines)
    assert lines[-1] == "-1 1"  # EPERM


# --- the network ----------------------------------------------------------------------------------


async def test_nothing_on_the_network_answers(mallory: Attacker) -> None:
    """Neither this machine's loopback (databases!) nor any other address, nor a name server."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        server.settimeout(0.2)
        ran = await mallory.py(
            "import socket\n"
            f"for place in (('127.0.0.1', {port}), ('127.0.0.1', 5432), ('8.8.8.8', 53)):\n"
            "    try: socket.create_connection(place, 3); print('connected')\n"
            "    except OSError as error: print(error.errno)\n"
            "try: socket.getaddrinfo('example.com', 80); print('resolved')\n"
            "except OSError: print('no name')\n"
            "print(sorted(name for _, name in socket.if_nameindex()))"
        )
        with pytest.raises(TimeoutError):
            server.accept()
    assert ran.output.text().splitlines() == ["111", "111", "101", "no name", "['lo']"]


async def test_local_sockets_are_not_there(mallory: Attacker, tmp_path: Path) -> None:
    """A socket in a folder is not seen, an abstract one belongs to another network."""
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("\0toolcrib-test-abstract")
        server.listen()
        ran = await mallory.py(
            "import socket, os\n"
            "one = socket.socket(socket.AF_UNIX)\n"
            "try: one.connect('\\0toolcrib-test-abstract'); print('connected')\n"
            "except OSError as error: print(error.errno)\n"
            "print(os.path.exists('/run'), os.path.exists('/var'))"
        )
    assert ran.output.text().splitlines() == ["111", "False False"]


async def test_sockets_to_the_host_of_a_virtual_machine_are_refused(mallory: Attacker) -> None:
    """No network namespace holds them back, so the filter of system calls does."""
    ran = await mallory.py(
        "import socket\n"
        "for family in (40, 38, 17, 2):\n"
        "    try: socket.socket(family, socket.SOCK_STREAM); print(family, 'made')\n"
        "    except OSError as error: print(family, error.errno)"
    )
    assert ran.output.text().splitlines() == ["40 97", "38 97", "17 97", "2 made"]


# --- getting out ----------------------------------------------------------------------------------


async def test_links_lead_nowhere(mallory: Attacker, tmp_path: Path) -> None:
    """A link to a file outside dangles inside; a hard link to it cannot be made."""
    outside = tmp_path / "outside"
    outside.write_text(SECRET)
    outside.chmod(0o666)
    ran = await mallory.sh(
        f"ln -s {outside} link; cat link; echo changed > link; ln {outside} hard; "
        "ln -s / top; ls top/ | tr '\\n' ' '"
    )
    text = ran.output.text()
    assert SECRET not in text
    assert outside.read_text() == SECRET
    assert text.splitlines()[-1].split() == [
        *("bin", "dev", "etc", "lib", "lib64", "proc", "sbin", "tmp", "usr", "workspace"),
    ]


@pytest.mark.parametrize(
    "command",
    [
        "mount -t tmpfs none /mnt",
        "mount -o remount,rw,bind /usr",
        "mount -o remount,rw /",
        "umount /proc",
        "unshare --user --map-root-user true",
        "unshare --mount true",
        "nsenter --target 1 --mount true",
        "mknod /workspace/disk b 8 0",
        "mknod /dev/kmsg c 1 11",
        "chroot /workspace true",
        "touch /new",
        "touch /usr/bin/new",
        "touch /dev/new",
        "touch /etc/new",
        "echo 1 > /proc/sys/kernel/sysrq",
        "echo b > /proc/sysrq-trigger",
        "su - root -c true",
        "setpriv --reuid 0 true",
        "chown 0 .",
        "dmesg",
        "swapon /workspace/x",
        "hostname other",
        "date -s 2001-01-01",
    ],
)
async def test_what_only_root_may(mallory: Attacker, command: str) -> None:
    """Each fails; none changes anything."""
    ran = await mallory.sh(f"{command}; code=$?; [ $code -ne 0 ] && echo refused; exit $code")
    assert (ran.code != 0, "refused" in ran.output.text()) == (True, True), ran.output.text()


async def test_setuid_programs_give_nothing(mallory: Attacker) -> None:
    """Neither the machine's nor one's own: nothing that is run gains a right."""
    ran = await mallory.sh(
        "cp /usr/bin/id mine && chmod 4755 mine && ./mine -u; "
        "find /usr -perm -4000 -type f 2>/dev/null | head -n 1; "
        "grep -E 'NoNewPrivs|CapEff|CapBnd|Seccomp:' /proc/self/status"
    )
    lines = ran.output.text().split()
    assert lines[0] == "65534"
    status = dict(zip(lines[-8::2], lines[-7::2], strict=True))
    assert status["NoNewPrivs:"] == "1"
    assert {status["CapEff:"], status["CapBnd:"]} == {"0000000000000000"}
    assert status["Seccomp:"] == "2"


async def test_namespaces_by_system_call(mallory: Attacker) -> None:
    """unshare, clone with flags and clone3 are refused, each by number."""
    ran = await mallory.py(
        "import ctypes, platform\n"
        "libc = ctypes.CDLL(None, use_errno=True)\n"
        "numbers = {'x86_64': (272, 56, 435, 425, 321), 'aarch64': (97, 220, 435, 425, 280)}\n"
        "unshare, clone, clone3, io_uring, bpf = numbers[platform.machine()]\n"
        "for call in ((unshare, 0x10000000), (clone, 0x10000000 | 17, 0, 0, 0, 0),\n"
        "             (clone3, 0, 0), (io_uring, 1, 0), (bpf, 0, 0, 0)):\n"
        "    print(libc.syscall(*call), ctypes.get_errno())"
    )
    assert ran.output.text().splitlines() == ["-1 1", "-1 1", "-1 38", "-1 1", "-1 1"]


async def test_two_chats_never_see_each_other(tmp_path: Path) -> None:
    """Neither files nor processes of one are there for the other, at the same time."""
    isolation()
    folder = tmp_path / "sandboxes"
    ada, bob = attacker(folder, 1), attacker(folder, 2)
    await ada.sh("echo treasure > mine; mkfifo wait")
    async with asyncio.TaskGroup() as group:
        busy = group.create_task(ada.sh("echo busy; exec -a treasurer cat wait"))
        await until(lambda: bool(processes_with("treasurer")))
        ran = await bob.sh(
            "ls -A; cat /proc/*/cmdline; find / -name mine -not -path '/proc/*' 2>/dev/null; "
            f"ls {ada.folder} ../{ada.key.name} 2>&1"
        )
        await ada.sh("echo > wait")
        assert (await busy).code == 0
    text = ran.output.text()
    assert "treasure" not in text.replace(str(ada.folder), "")
    assert text.count("No such file") == 2
    if os.geteuid() == 0:
        owners = {one.folder.stat().st_uid for one in (ada, bob)}
        assert len(owners) == 2
        assert 0 not in owners


# --- using everything up --------------------------------------------------------------------------


async def test_a_fork_bomb_ends_with_its_command(mallory: Attacker) -> None:
    """It cannot make more processes than its limit, and all of them are gone afterwards."""
    ran = await mallory.py(
        "import os, time\n"
        "made = 0\n"
        "while True:\n"
        "    try:\n"
        "        if os.fork() == 0: time.sleep(1000)\n"
        "        made += 1\n"
        "    except OSError as error:\n"
        "        print(error.errno, made); break"
    )
    number, made = map(int, ran.output.text().split())
    assert number == 11  # EAGAIN
    assert made < SMALL.processes
    ran = await mallory.sh("bomb() { bomb | bomb & }; bomb; sleep 600 & wait", seconds=2)
    assert ran.ended in {"time", "exited"}
    left = await mallory.sh("ls /proc | grep -c '^[0-9]'")
    assert int(left.output.text()) < 8


async def test_memory_has_an_end(mallory: Attacker) -> None:
    """In one process, and where a cgroup can hold it in many and in files of memory."""
    ran = await mallory.py("x = bytearray(1024 * 1024 * 1024)")
    assert ran.code != 0
    assert ran.starved or "MemoryError" in ran.output.text()
    if isolation().cgroups is not None:
        ran = await mallory.sh(
            'for i in 1 2 3 4; do python3 -c \'import time; x = b"a" * 90 * 1024 * 1024; '
            "time.sleep(60)' & done; wait -n; kill $(jobs -p)"
        )
        assert ran.starved


@pytest.mark.parametrize("place", ["/tmp", "/dev/shm"])  # noqa: S108 - inside the walls
async def test_short_lived_folders_have_an_end(mallory: Attacker, place: str) -> None:
    """Exactly their size goes in."""
    ran = await mallory.sh(f"cat /dev/zero > {place}/big; stat -c %s {place}/big; ls -A {place}")
    lines = ran.output.text().splitlines()
    assert "No space left" in lines[0]
    assert int(lines[1]) == SMALL.temporary
    assert (await mallory.sh(f"ls -A {place}")).output.text() == ""


async def test_the_workspace_has_an_end(mallory: Attacker) -> None:
    """One file, many files, many empty files, deep folders: each is stopped soon."""
    ran = await mallory.sh("head -c 200M /dev/zero > big")
    assert ran.code != 0
    assert (mallory.folder / "big").stat().st_size <= SMALL.file
    ran = await mallory.sh("for i in $(seq 50); do head -c 20M /dev/zero > f$i; sleep 0.1; done")
    assert ran.ended == "disk"
    ran = await mallory.sh("rm -f big f*; ls -A")
    assert (ran.ended, ran.output.text()) == ("exited", "")
    ran = await mallory.py(
        "import itertools, time\n"
        "for i in itertools.count(): open(f'f{i}', 'w').close(), time.sleep(0.0002)"
    )
    assert ran.ended == "files"
    await mallory.sh("rm -rf /workspace/*")
    ran = await mallory.py(
        "import os, time\nfor i in range(1000): os.mkdir('d'); os.chdir('d')\ntime.sleep(600)"
    )
    assert ran.ended == "files"


async def test_files_without_a_name_count(mallory: Attacker) -> None:
    """A file that is unlinked while it is open still fills the disk, so it is found."""
    ran = await mallory.py(
        "import os, time\n"
        "kept = []\n"
        "for i in range(100):\n"
        "    f = open('x', 'wb'); os.unlink('x'); f.write(b'a' * 2**20); f.flush()\n"
        "    kept.append(f); time.sleep(0.01)\n"
        "time.sleep(600)"
    )
    assert ran.ended == "disk"


async def test_files_that_are_only_mapped_count(mallory: Attacker) -> None:
    """A file without a name and without a descriptor, which memory still shows."""
    if os.geteuid() != 0:
        missing("only root finds the file behind the memory of another process")
    ran = await mallory.py(
        "import ctypes, os, time\n"
        "c, size = ctypes.CDLL(None), 8 * 2**20\n"
        "c.mmap.restype = ctypes.c_void_p\n"
        "for i in range(20):\n"
        "    f = os.open('x', os.O_CREAT | os.O_RDWR); os.unlink('x'); os.ftruncate(f, size)\n"
        "    p = c.mmap(None, ctypes.c_size_t(size), 3, 1, f, ctypes.c_long(0)); os.close(f)\n"
        "    ctypes.memset(p, 1, size); c.msync(ctypes.c_void_p(p), ctypes.c_size_t(size), 4)\n"
        "time.sleep(600)"
    )
    assert ran.ended == "disk"


async def test_room_is_not_taken_without_writing(mallory: Attacker) -> None:
    """One call of the system would take gigabytes before anybody looks."""
    ran = await mallory.py(
        "import ctypes, errno, os\n"
        "c = ctypes.CDLL(None, use_errno=True)\n"
        "f = os.open('f', os.O_CREAT | os.O_WRONLY)\n"
        "print(c.fallocate(f, 0, ctypes.c_long(0), ctypes.c_long(4096)),"
        " ctypes.get_errno() == errno.EOPNOTSUPP)\n"
        "os.posix_fallocate(f, 0, 8192); print(os.stat('f').st_size)"
    )
    assert ran.output.text() == "-1 True\n8192\n"


def held(folder: Path) -> int:
    """Bytes on the disk."""
    return sum(path.lstat().st_blocks * 512 for path in folder.rglob("*"))


async def test_many_short_commands_fill_no_disk(mallory: Attacker) -> None:
    """What ends between two looks is measured at its end, and the next one writes nothing."""
    endings = [
        (await mallory.sh(f"head -c 25M /dev/zero > f{number}; echo > g{number}")).ended
        for number in range(6)
    ]
    assert endings[:3] == ["exited", "disk", "exited"]
    assert held(mallory.folder) <= 2 * SMALL.disk
    ran = await mallory.sh("head -c 1000 /dev/zero > more")
    assert (ran.full, ran.code != 0) == (True, True)


async def test_too_many_files_become_no_more(mallory: Attacker) -> None:
    """However often it is tried: in the end nothing runs in such a folder."""
    script = "import itertools\nfor i in itertools.count({}): open(f'f{{i}}', 'w').close()"
    endings = [await settled(mallory.py(script.format(n * 10**6))) for n in range(12)]
    assert endings[0] == "files"
    assert endings[-1] == "refused"
    with pytest.raises(CallRefused, match="too many files"):
        await mallory.sh("true")


async def test_what_lies_too_deep_hides_nothing(mallory: Attacker) -> None:
    """Nothing more runs where a part of the folder cannot be measured."""
    dig = "import os\nfor i in range(150): os.mkdir('d'); os.chdir('d')"
    assert (await mallory.py(dig)).ended == "files"
    with pytest.raises(CallRefused, match="too deep"):
        await mallory.sh("echo more > more")
    assert not (mallory.folder / "more").exists()


async def test_a_full_workspace_can_be_emptied(mallory: Attacker) -> None:
    """Commands still run, and write nothing until there is room again."""
    await mallory.sh("for i in 1 2 3; do head -c 20M /dev/zero > f$i; sleep 0.3; done")
    assert (await mallory.sh("ls | wc -l")).ended == "exited"
    before = held(mallory.folder)
    assert (await mallory.sh("head -c 20M /dev/zero > more")).code != 0
    assert held(mallory.folder) <= before + 2**20
    assert (await mallory.sh("rm *; echo gone")).output.text() == "gone\n"
    assert (await mallory.sh("echo again > f; cat f")).output.text() == "again\n"


async def test_a_gigabyte_of_output_stays_outside(mallory: Attacker) -> None:
    """The command is stopped; beginning and end of what it wrote are kept, and little memory."""
    before = _resident()
    ran = await mallory.sh("echo first; head -c 1G /dev/zero | tr '\\0' x")
    assert ran.ended == "output"
    assert SMALL.output <= ran.output.total < SMALL.output + 2**20
    text = ran.output.text()
    assert text.startswith("first\nxxx")
    assert "bytes left out" in text
    assert len(text) < 200_000
    assert _resident() - before < 64 * 2**20


async def test_commands_of_one_chat_at_once(mallory: Attacker) -> None:
    """They run side by side, a few at a time, and the end of one ends no other."""
    async with asyncio.TaskGroup() as group:
        many = [group.create_task(mallory.sh(f"echo {number}")) for number in range(12)]
    said = [(one.result().code, one.result().output.text()) for one in many]
    assert said == [(0, f"{number}\n") for number in range(12)]


async def test_processor_time_has_an_end(tmp_path: Path) -> None:
    """A process that spins is killed by its own limit."""
    isolation()
    one = attacker(tmp_path / "sandboxes", limits=replace(SMALL, cpu=1))
    ran = await one.sh("while :; do :; done", seconds=60)
    assert (ran.ended, ran.code) == ("exited", 137)


# --- staying on -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "command",
    [
        "setsid sleep 1{mark} & disown; echo left",
        "nohup sleep 1{mark} >/dev/null 2>&1 & echo left",
        "(setsid bash -c '(trap \"\" HUP TERM; sleep 1{mark}) &' &); echo left",
        """python3 -c 'import os
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.execvp("sleep", ["sleep", "1{mark}"])
'; echo left""",
    ],
)
async def test_no_process_outlives_its_command(mallory: Attacker, command: str) -> None:
    """However it hides: its pid namespace goes as a whole."""
    mark = f"{time.monotonic_ns() % 10**9:09d}"
    ran = await mallory.sh(command.replace("{mark}", mark))
    assert ran.output.text().endswith("left\n")
    await until(lambda: not processes_with(f"sleep 1{mark}"))


async def test_the_end_of_a_chat_ends_what_runs(mallory: Attacker) -> None:
    """The command answers that its sandbox was closed; the folder is gone."""
    async with asyncio.TaskGroup() as group:
        busy = group.create_task(mallory.sh("touch here; trap '' TERM HUP; sleep 7777777"))
        await until((mallory.folder / "here").exists)
        await mallory.sandboxes.end(mallory.key)
        ran = await busy
    assert ran.ended == "closed"
    assert list(mallory.folder.parent.iterdir()) == []
    cgroups = isolation().cgroups
    if cgroups is not None:
        await until(lambda: cgroups.leave(mallory.key.name))


async def test_what_waits_for_its_turn_does_not_outlive_the_chat(mallory: Attacker) -> None:
    """More commands than run at once: the others begin no new sandbox after the end."""
    async with asyncio.TaskGroup() as group:
        wait = f"touch $$-{{}}; until [ $(ls | wc -l) -gt {AT_ONCE} ]; do sleep 0.05; done"
        busy = [
            group.create_task(settled(mallory.sh(wait.format(number))))
            for number in range(AT_ONCE + 3)
        ]
        await until(
            lambda: mallory.folder.exists() and len(list(mallory.folder.iterdir())) == AT_ONCE
        )
        await mallory.sandboxes.end(mallory.key)
        endings = [await one for one in busy]
    assert endings == ["closed"] * AT_ONCE + ["refused"] * 3
    assert list(mallory.folder.parent.iterdir()) == []


@pytest.mark.parametrize("part", ["a\0b", "\ud800"])
async def test_what_no_command_line_holds(mallory: Attacker, part: str) -> None:
    with pytest.raises(InvalidArguments, match="The command holds"):
        await mallory.sandboxes.run(mallory.key, ("echo", part))


async def test_the_end_is_heard_by_other_processes(mallory: Attacker, tmp_path: Path) -> None:
    """Another server that shares the data directory ends the chat: the command here stops."""
    other = attacker(mallory.folder.parent)
    async with asyncio.TaskGroup() as group:
        busy = group.create_task(mallory.sh("touch here; sleep 7777777"))
        await until((mallory.folder / "here").exists)
        await other.sandboxes.end(mallory.key)
        ran = await busy
    assert ran.ended == "closed"


async def test_a_folder_that_resists_is_removed(mallory: Attacker) -> None:
    """Without rights, deeper than any path, with odd names."""
    await mallory.sh(
        "mkdir -p locked/in && touch locked/in/f $'odd\\n name' && chmod 000 locked/in locked; "
        "for i in $(seq 90); do mkdir $(printf 'd%.0s' $(seq 200)) && cd d*; done"
    )
    await mallory.sandboxes.end(mallory.key)
    assert list(mallory.folder.parent.iterdir()) == []


async def test_names_that_lead_elsewhere_are_no_sandboxes(mallory: Attacker) -> None:
    """A key that is no chat's is refused before anything is made."""
    with pytest.raises(CallRefused, match="cannot be the name"):
        await mallory.sandboxes.run(Key(number=1, uuid="../../x"), ("true",))
    assert not mallory.folder.parent.exists()


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
