"""This module writes the system-call filter that commands in a sandbox run under.

It refuses what no build or script needs and what holes in kernels were found through: debugging
other processes, mounts, namespaces, kernel keys, BPF, io_uring; and sockets of kinds that network
namespaces do not hold back, such as those between a virtual machine and its host. Nor does it let
a program take room on the disk without writing: programs that ask for it can do without.
"""

from __future__ import annotations

import errno
import platform
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

_LOAD: Final = 0x20  # BPF_LD | BPF_W | BPF_ABS
_EQUAL: Final = 0x15  # BPF_JMP | BPF_JEQ | BPF_K
_AT_LEAST: Final = 0x35  # BPF_JMP | BPF_JGE | BPF_K
_ANY_BIT: Final = 0x45  # BPF_JMP | BPF_JSET | BPF_K
_RETURN: Final = 0x06  # BPF_RET | BPF_K
_ALLOW: Final = 0x7FFF_0000
_ERROR: Final = 0x0005_0000
_NUMBER, _ARCH, _FIRST_ARGUMENT = 0, 4, 16
_NEW_NAMESPACE: Final = 0x7E02_0000  # every CLONE_NEW… flag that clone takes
_X32: Final = 0x4000_0000
_FAMILIES: Final = (1, 2, 10, 16)  # unix, IPv4, IPv6, netlink
# Numbers that all architectures share: io_uring, the newer mount calls, pidfd_getfd.
_NEWER: Final = (*range(425, 434), 438, 442)
_CLONE3: Final = 435

Instruction = tuple[int, int, int, int]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Numbers:
    arch: int
    clone: int
    socket: int
    fallocate: int
    refused: tuple[int, ...]


# fmt: off
# ptrace, mount, umount2, pivot_root, chroot, unshare, setns, add_key, request_key, keyctl,
# perf_event_open, name_to_handle_at, open_by_handle_at, process_vm_readv, process_vm_writev, kcmp,
# bpf, userfaultfd, kexec_load, init_module, finit_module, delete_module, swapon, reboot
_X86_64: Final = (101, 165, 166, 155, 161, 272, 308, 248, 249, 250, 298, 303, 304, 310, 311, 312,
                  321, 323, 246, 175, 313, 176, 167, 169)
_AARCH64: Final = (117, 40, 39, 41, 51, 97, 268, 217, 218, 219, 241, 264, 265, 270, 271, 272,
                   280, 282, 104, 105, 273, 106, 224, 142)
# fmt: on
_MACHINES: Mapping[str, _Numbers] = {
    "x86_64": _Numbers(
        arch=0xC000_003E,
        clone=56,
        socket=41,
        fallocate=285,
        refused=_X86_64,
    ),
    "aarch64": _Numbers(
        arch=0xC000_00B7,
        clone=220,
        socket=198,
        fallocate=47,
        refused=_AARCH64,
    ),
}


def system_call_filter(machine: str | None = None) -> bytes | None:
    """The program for `bwrap --seccomp`; None for a machine whose numbers are not known here."""
    numbers = _MACHINES.get(machine or platform.machine())
    if numbers is None:
        return None
    return b"".join(struct.pack("=HBBI", *one) for one in _program(numbers))


def _program(numbers: _Numbers) -> list[Instruction]:
    refuse = (_RETURN, 0, 0, _ERROR | errno.EPERM)
    code: list[Instruction] = [
        (_LOAD, 0, 0, _ARCH),
        (_EQUAL, 1, 0, numbers.arch),
        refuse,
        (_LOAD, 0, 0, _NUMBER),
        (_AT_LEAST, 0, 1, _X32),
        refuse,
    ]
    for number in (*numbers.refused, *_NEWER):
        code += [(_EQUAL, 0, 1, number), refuse]
    # Who asks for clone3 is told that there is none, and asks for clone, whose flags can be read.
    code += [(_EQUAL, 0, 1, _CLONE3), (_RETURN, 0, 0, _ERROR | errno.ENOSYS)]
    code += [(_EQUAL, 0, 1, numbers.fallocate), (_RETURN, 0, 0, _ERROR | errno.EOPNOTSUPP)]
    code += [
        (_EQUAL, 0, 3, numbers.clone),
        (_LOAD, 0, 0, _FIRST_ARGUMENT),
        (_ANY_BIT, 0, 1, _NEW_NAMESPACE),
        refuse,
        (_LOAD, 0, 0, _NUMBER),
        (_EQUAL, 0, len(_FAMILIES) + 2, numbers.socket),
        (_LOAD, 0, 0, _FIRST_ARGUMENT),
    ]
    for place, family in enumerate(_FAMILIES):
        code.append((_EQUAL, len(_FAMILIES) - place, 0, family))
    code += [(_RETURN, 0, 0, _ERROR | errno.EAFNOSUPPORT), (_RETURN, 0, 0, _ALLOW)]
    return code
