"""The pieces of the walls, one by one: filter, limits, groups, what is measured and kept."""

from __future__ import annotations

import os
import struct
from contextlib import ExitStack
from pathlib import Path

import pytest

from toolcrib.isolation.cgroups import find_cgroups
from toolcrib.isolation.limits import Limits
from toolcrib.isolation.probing import Isolation, probe
from toolcrib.isolation.programs import Programs, find_strangers
from toolcrib.isolation.sandboxes import Sandboxes
from toolcrib.isolation.seccomp import system_call_filter
from toolcrib.isolation.tail import Kept
from toolcrib.isolation.usage import DEEPEST, usage_of
from toolcrib.isolation.view import View
from toolcrib.isolation.wrapping import Walls

ALLOW = 0x7FFF_0000


def verdict(program: bytes, number: int, argument: int = 0, arch: int = 0xC000003E) -> int:
    """What the filter answers to a call: the machine of the kernel, in a few lines."""
    code = list(struct.iter_unpack("=HBBI", program))
    data = struct.pack("=IIQQ", number, arch, 0, argument)
    place, held = 0, 0
    while True:
        kind, yes, no, value = code[place]
        place += 1
        if kind == 0x06:
            return value
        if kind == 0x20:
            held = struct.unpack_from("=I", data, value)[0]
            continue
        holds = {0x15: held == value, 0x35: held >= value, 0x45: bool(held & value)}[kind]
        place += yes if holds else no


@pytest.mark.parametrize(
    ("machine", "arch", "numbers"),
    [
        (
            "x86_64",
            0xC000003E,
            {"read": 0, "clone": 56, "socket": 41, "ptrace": 101, "mount": 165, "fallocate": 285},
        ),
        (
            "aarch64",
            0xC00000B7,
            {"read": 63, "clone": 220, "socket": 198, "ptrace": 117, "mount": 40, "fallocate": 47},
        ),
    ],
)
def test_the_filter_of_system_calls(machine: str, arch: int, numbers: dict[str, int]) -> None:
    """Ordinary calls pass; what leads out does not; another machine's numbers mean nothing."""
    program = system_call_filter(machine)
    assert program is not None

    def answer(name: str, argument: int = 0) -> int:
        return verdict(program, numbers[name], argument, arch)

    refused = 0x0005_0000 | 1
    assert answer("read") == ALLOW
    assert answer("clone", 17) == ALLOW
    for namespace in (0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000):
        assert answer("clone", namespace | 17) == refused
    assert [answer("socket", family) for family in (1, 2, 10, 16)] == [ALLOW] * 4
    assert {answer("socket", family) for family in (0, 17, 38, 40, 44)} == {0x0005_0000 | 97}
    assert (answer("ptrace"), answer("mount")) == (refused, refused)
    assert answer("fallocate") == 0x0005_0000 | 95
    assert verdict(program, 435, 0, arch) == 0x0005_0000 | 38
    assert verdict(program, 425, 0, arch) == refused
    assert verdict(program, numbers["read"], 0, arch ^ 1) == refused
    assert verdict(program, 0x4000_0000 | numbers["read"], 0, arch) == refused


def test_a_machine_that_is_not_known_has_no_filter() -> None:
    assert system_call_filter("mips") is None


def test_beginning_and_end_are_kept() -> None:
    """However it comes in pieces; what is between is counted."""
    whole = bytes(range(256)) * 40
    for size in (1, 7, 100, 10_240):
        kept = Kept(1000)
        for start in range(0, len(whole), size):
            kept.add(whole[start : start + size])
        assert kept.total == len(whole)
        assert kept.bytes == whole[:500] + whole[-500:]
        assert kept.dropped == len(whole) - 1000
    short = Kept(1000)
    short.add(b"abc")
    assert (short.bytes, short.dropped, short.text()) == (b"abc", 0, "abc")


def test_what_a_folder_holds(tmp_path: Path) -> None:
    """Blocks and files, links not followed, depth limited, and a folder that is gone said so."""
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "f").write_bytes(b"x" * 100_000)
    (tmp_path / "link").symlink_to("/usr")
    usage = usage_of(tmp_path, most_files=100)
    assert (usage.files, usage.too_deep) == (3, False)
    assert 100_000 <= usage.bytes < 200_000
    assert usage_of(tmp_path, most_files=1).files == 2
    deep = tmp_path.joinpath(*["d"] * (DEEPEST + 2))
    deep.mkdir(parents=True)
    assert usage_of(tmp_path, most_files=1000).too_deep
    with pytest.raises(FileNotFoundError):
        usage_of(tmp_path / "missing", most_files=1)


def test_open_files_without_a_name(tmp_path: Path) -> None:
    """They are found among the open files of a process."""
    with (tmp_path / "f").open("wb") as file:
        file.write(b"x" * 300_000)
        file.flush()
        (tmp_path / "f").unlink()
        assert usage_of(tmp_path, most_files=10).bytes == 0
        assert usage_of(tmp_path, most_files=10, process=os.getpid()).bytes >= 300_000


def test_users_that_nobody_is(tmp_path: Path) -> None:
    """In a container with few users they are chosen among those; with too few there are none."""
    if os.geteuid() != 0:
        assert find_strangers() is None
        return
    mapping = tmp_path / "uid_map"
    found: list[tuple[int, int] | None] = []
    for text in (
        "0 0 4294967295\n",
        "0 100000 65536\n",
        "0 1000 1\n",
        "0 1000 1\n1 100000 65535\n",
    ):
        mapping.write_text(text)
        strangers = find_strangers(mapping)
        found.append(strangers and (strangers.of(0), strangers.of(-1)))
    few = (40_000, 59_999)
    assert found == [(1_900_000_000, 1_999_999_999), few, None, few]


def test_groups_of_the_second_version(tmp_path: Path) -> None:
    """Where a folder of cgroup v2 can be written to, limits are written there."""
    mount = tmp_path / "cgroup"
    ours = mount / "toolcrib-sandboxes"
    for place in (mount, ours):
        place.mkdir()
        (place / "cgroup.controllers").write_text("cpu memory pids\n")
        (place / "cgroup.subtree_control").write_text("memory pids\n")
        (place / "cgroup.procs").write_text("")
    membership = tmp_path / "membership"
    membership.write_text("0::/\n")
    found = find_cgroups(mount, membership)
    assert found is not None
    assert (found.version, found.memory, found.processes) == (2, ours, ours)
    files = found.enter("a", Limits(memory=2**28, processes=9))
    assert files == [ours / "a" / "cgroup.procs"]
    assert (ours / "a" / "memory.max").read_text() == str(2**28)
    assert (ours / "a" / "pids.max").read_text() == "9"
    (ours / "a" / "memory.events").write_text("oom 3\noom_kill 2\n")
    assert found.starved("a") == 2


def test_no_groups_where_nothing_can_be_written(tmp_path: Path) -> None:
    """Nothing is taken for granted, and nothing raises."""
    membership = tmp_path / "membership"
    membership.write_text("0::/\n5:memory:/x\n6:pids:/x\n")
    assert find_cgroups(tmp_path / "missing", membership) is None


def test_without_groups_each_process_is_limited(tmp_path: Path) -> None:
    """What a cgroup would hold in total, the address space of each process must."""
    walls = Walls(programs=Programs(bwrap="bwrap", prlimit="prlimit"))
    limits = Limits(memory=2**28)
    with ExitStack() as files:
        alone = walls.around(("x",), View(folder=tmp_path), limits, user=None, files=files)
        held = walls.around(
            ("x",), View(folder=tmp_path), limits, user=None, groups=[tmp_path / "g"], files=files
        )
    assert f"--as={2**28}:{2**28}" in alone.argv
    assert not [part for part in held.argv if part.startswith("--as=")]
    assert alone.argv[0] == "bwrap"
    assert held.argv[:2] == ["/bin/sh", "-c"]
    assert alone.env == {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}


def test_why_nothing_isolates_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A missing program is named with its package; the sandboxes hand the reason on."""
    monkeypatch.setattr("toolcrib.isolation.programs.PATH", str(tmp_path))
    found = probe()
    assert found.walls is None
    assert (
        found.reason == "commands cannot be isolated here: bubblewrap util-linux is not installed"
    )
    assert found.fix == "apt-get install bubblewrap util-linux"
    assert Sandboxes(tmp_path, look=lambda: found).obstacle == (found.reason, found.fix)
    assert Sandboxes(tmp_path, mode="off", look=Isolation).obstacle == (
        "commands are switched off here",
        "Set TOOLCRIB_SANDBOX=auto.",
    )
