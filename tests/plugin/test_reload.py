"""Reload: failed plugins get another chance, new ones are found, loaded ones stay."""

from __future__ import annotations

import asyncio
import shutil
import sys
from pathlib import Path

from tests.plugin.waiting import imported
from tests.support.packages import lay_out
from toolcrib.plugin.discovery import Plugins
from toolcrib.plugin.registration import Registry

GROUP = "toolcrib.tools"


def put(site: Path, name: str, text: str, *, version: str = "1.0") -> Path:
    return lay_out(
        site,
        f"r-{name}",
        files={f"r_{name}/__init__.py": text},
        entry_points={GROUP: {name: f"r_{name}:register"}},
        version=version,
    )


def good(code: str) -> str:
    return f"runs = []\ndef register(f):\n    runs.append(1)\n    f({code!r}, [object()])\n"


async def test_a_fixed_plugin_loads_on_reload(site: Path, registry: Registry) -> None:
    """The failed attempt's modules are forgotten, those of others are not."""
    put(site, "fix", "from r_fix.inner import value\nraise RuntimeError(value)\n")
    site.joinpath("r_fix/inner.py").write_text("value = 'first'\n")
    put(site, "well", good("well"))
    plugins = Plugins(registry)
    assert [(r.name, r.error) for r in await plugins.load()] == [
        ("fix", "RuntimeError: first"),
        ("well", None),
    ]
    assert "r_fix.inner" not in sys.modules
    site.joinpath("r_fix/__init__.py").write_text(good("fixed"))
    site.joinpath("r_fix/inner.py").unlink()
    assert [(r.name, r.status, r.codes) for r in await plugins.reload()] == [
        ("fix", "loaded", ("fixed",)),
        ("well", "loaded", ("well",)),
    ]
    assert sys.modules["r_well"].runs == [1]
    assert sorted(registry.snapshot().bundles) == ["fixed", "well"]


async def test_loading_and_reloading_again_changes_nothing(site: Path, registry: Registry) -> None:
    """Loaded plugins run once, however often either is called; the registry stays as it is."""
    put(site, "once", good("once"))
    plugins = Plugins(registry)
    first = await plugins.load()
    version = registry.version
    again = await asyncio.gather(plugins.load(), plugins.reload(), plugins.reload())
    assert again == [first, first, first]
    assert sys.modules["r_once"].runs == [1]
    assert registry.version == version


async def test_a_newly_installed_distribution_is_found(site: Path, registry: Registry) -> None:
    """No restart is needed for a plugin that was not there before."""
    plugins = Plugins(registry)
    assert await plugins.load() == []
    put(site, "new", good("new"))
    assert [(r.name, r.status) for r in await plugins.reload()] == [("new", "loaded")]
    assert list(registry.snapshot().bundles) == ["new"]


async def test_only_the_named_ones_are_tried(site: Path, registry: Registry) -> None:
    """`only` limits a pass to plugins of these names."""
    for name in ("a", "b"):
        put(site, name, "raise RuntimeError('x')\n")
    plugins = Plugins(registry)
    await plugins.load()
    for name in ("a", "b"):
        site.joinpath(f"r_{name}/__init__.py").write_text(good(name))
    reports = await plugins.reload(only={"b"})
    assert [(r.name, r.status) for r in reports] == [("a", "failed"), ("b", "loaded")]


async def test_another_version_of_a_loaded_plugin_needs_a_restart(
    site: Path, registry: Registry
) -> None:
    """The report says which version runs and which is installed, until they are the same."""
    info = put(site, "up", good("up"))
    plugins = Plugins(registry)
    await plugins.load()
    shutil.rmtree(info)
    newer = put(site, "up", good("up2"), version="2.0")
    [report] = await plugins.reload()
    assert (report.status, report.version, report.error) == (
        "loaded",
        "1.0",
        "restart to load version 2.0; version 1.0 is running",
    )
    assert list(registry.snapshot().bundles) == ["up"]
    shutil.rmtree(newer)
    [report] = await plugins.reload()
    assert report.error == "r-up was removed; restart to unload version 1.0"
    put(site, "up", good("up"))
    [report] = await plugins.reload()
    assert (report.status, report.error) == ("loaded", None)


async def test_a_failed_plugin_that_was_removed_is_listed_no_more(
    site: Path, registry: Registry
) -> None:
    """There is nothing left to report about it."""
    info = put(site, "bad", "raise RuntimeError('x')\n")
    plugins = Plugins(registry)
    assert len(await plugins.load()) == 1
    shutil.rmtree(info)
    assert await plugins.reload() == []


async def test_a_plugin_that_still_hangs_is_not_started_twice(
    site: Path, registry: Registry
) -> None:
    """While the first attempt runs another one is refused; afterwards it is made."""
    put(
        site,
        "hang",
        """
        import threading
        begun, go, done, runs = threading.Event(), threading.Event(), threading.Event(), []
        def register(f):
            runs.append(1)
            begun.set()
            go.wait()
            done.set()
        """,
    )
    plugins = Plugins(registry, timeout=0.2)
    await plugins.load()
    module = await imported("r_hang")
    [report] = await plugins.reload()
    await asyncio.to_thread(module.begun.wait)
    assert (report.status, module.runs) == ("failed", [1])
    assert "still loading since an earlier attempt" in (report.error or "")
    site.joinpath("r_hang/__init__.py").write_text(good("hang"))
    module.go.set()
    assert await asyncio.to_thread(module.done.wait, 60)
    while report.status == "failed":  # the thread needs a moment to end
        [report] = await plugins.reload()
    assert (report.status, report.codes) == ("loaded", ("hang",))


async def test_a_second_holder_replaces_what_the_first_registered(
    site: Path, registry: Registry
) -> None:
    """Two platforms one after the other in a process: the plugin serves the host of the second."""
    put(
        site,
        "host",
        "class T:\n    name = 't'\n    def __init__(s, c): s.context = c\n"
        "def register(f, context):\n    f('host', [T(context)])\n",
    )
    await Plugins(registry, "first").load()
    await Plugins(registry, "second").load()
    assert [tool.context for tool in registry.resolve_tools("host")] == ["second"]
    assert len(registry.snapshot().bundles["host"].entries) == 1
