"""This module holds what a sandbox may use."""

from __future__ import annotations

from dataclasses import dataclass

MIB = 1024 * 1024


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """Sizes in bytes, times in seconds."""

    seconds: float = 3600.0
    """The longest command, by the clock."""
    cpu: int = 120
    """Processor time of one process."""
    memory: int = 1024 * MIB
    """Of the whole sandbox where a cgroup can hold it, else of each process."""
    processes: int = 256
    """Processes and threads at one time."""
    disk: int = 1024 * MIB
    """The workspace, watched several times a second."""
    files: int = 50_000
    """Files and folders in the workspace."""
    file: int = 512 * MIB
    """One file."""
    temporary: int = 128 * MIB
    """`/tmp` and `/dev/shm`, each."""
    output: int = 64 * MIB
    """What a command may write to its output before it is stopped; far less of it is kept."""
    open_files: int = 256
