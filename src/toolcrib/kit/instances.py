"""This module keeps one instance of each tool class that is used without constructor arguments."""

from __future__ import annotations

import threading
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

T = TypeVar("T")
_lock = threading.RLock()
_instances: WeakKeyDictionary[type, Any] = WeakKeyDictionary()


def instance_of(tool: type[T]) -> T:
    """The instance of this process, made when it is first asked for."""
    with _lock:
        if tool not in _instances:
            _instances[tool] = tool()
        return _instances[tool]


def clear_instances() -> None:
    """Forget all of them; whoever holds one keeps it."""
    with _lock:
        _instances.clear()
