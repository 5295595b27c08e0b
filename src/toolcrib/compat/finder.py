"""This module provides modules that are missing: a finder that Python asks last of all."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

Names = Mapping[str, str]
"""Public name → `module:attribute` where it really lives."""


class Aliases(MetaPathFinder, Loader):
    """Modules by their full names. Whatever is really installed was found before this is asked."""

    def __init__(
        self,
        modules: Mapping[str, Names],
        *,
        more: Callable[[str], Names | None] = lambda _: None,
        packages: Iterable[str] = (),
    ) -> None:
        """`more` answers for modules that are not listed, None for those it does not know;
        `packages` are where those modules are."""
        self._modules = modules
        self._more = more
        self._packages = {
            ".".join(parts[:depth])
            for parts in (name.split(".") for name in modules)
            for depth in range(1, len(parts))
        } | set(packages)

    def install(self) -> None:
        """Stand at the end of the import path's finders; once, however often it is called."""
        if self not in sys.meta_path:
            sys.meta_path.append(self)

    def uninstall(self) -> None:
        """Leave, and take along the modules that came from here."""
        if self in sys.meta_path:
            sys.meta_path.remove(self)
        for name, module in list(sys.modules.items()):
            spec = getattr(module, "__spec__", None)
            if getattr(spec, "loader", None) is self:
                del sys.modules[name]
                above, _, last = name.rpartition(".")
                if getattr(sys.modules.get(above), last, None) is module:
                    delattr(sys.modules[above], last)

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None = None,
        target: ModuleType | None = None,
    ) -> ModuleSpec | None:
        if fullname in self._packages:
            return ModuleSpec(fullname, self, is_package=True)
        if self._names(fullname) is None:
            return None
        return ModuleSpec(fullname, self)

    def exec_module(self, module: ModuleType) -> None:
        names = self._names(module.__name__) or {}
        module.__doc__ = "This module offers names of Toolcrib to code written for another system."

        def load(name: str) -> object:
            if name not in names:
                raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}")
            home, _, attribute = names[name].partition(":")
            value: object = import_module(home)
            for part in (attribute or name).split("."):
                value = getattr(value, part)
            return value

        vars(module).update(
            __all__=sorted(names),
            __getattr__=load,
            __dir__=lambda: sorted({*vars(module), *names}),
        )

    def _names(self, fullname: str) -> Names | None:
        known = self._modules.get(fullname)
        return known if known is not None else self._more(fullname)
