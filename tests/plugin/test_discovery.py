"""Discovery: every plugin is found once, loads alone, fails alone, and is reported by name."""

from __future__ import annotations

import asyncio
import logging
import sys
import threading
from pathlib import Path

import pytest

from tests.plugin.waiting import imported
from tests.support.packages import lay_out, run_python
from toolcrib.plugin.discovery import PluginReport, Plugins, discover, discover_plugins
from toolcrib.plugin.registration import Registry

GROUP = "primethink.tools"
GOOD = (
    "def register(registry_fn):\n    registry_fn('good', ['fine'], name='Good', description='d')\n"
)


def put(site: Path, name: str, text: str | None, *, value: str = "", group: str = GROUP) -> None:
    """One distribution `p-NAME` with one module `p_NAME` and one entry point NAME."""
    files = {} if text is None else {f"p_{name}.py": text}
    lay_out(
        site,
        f"p-{name}",
        files=files,
        entry_points={group: {name: value or f"p_{name}:register"}},
    )


def statuses(reports: list[PluginReport]) -> dict[str, str]:
    return {report.name: report.status for report in reports}


async def test_each_bad_plugin_fails_alone(site: Path, registry: Registry) -> None:
    """Import errors, exits, half registrations, missing things and bad syntax: one good remains."""
    put(site, "good", GOOD)
    put(site, "boom", "raise ImportError('native lib missing')\n")
    put(site, "exit", "import sys\nsys.exit(3)\n")
    put(site, "half", "def register(f):\n    f('half', ['h1'])\n    raise RuntimeError('late')\n")
    put(site, "gone", None, value="module_that_is_not_there:register")
    put(site, "noattr", "x = 1\n")
    put(site, "nc", "register = 5\n")
    put(site, "syn", "def (:\n")
    reports = await discover(registry)
    assert statuses(reports) == {
        "boom": "failed",
        "exit": "failed",
        "gone": "failed",
        "good": "loaded",
        "half": "failed",
        "nc": "failed",
        "noattr": "failed",
        "syn": "failed",
    }
    assert [bundle.code for bundle in registry.snapshot().bundles.values()] == ["good"]
    errors = {report.name: report.error or "" for report in reports}
    assert errors["boom"] == "ImportError: native lib missing"
    assert errors["exit"] == "SystemExit: 3"
    assert errors["half"] == "RuntimeError: late"
    assert errors["gone"] == "ModuleNotFoundError: No module named 'module_that_is_not_there'"
    assert "register" in errors["noattr"]
    assert "not a function" in errors["nc"]
    assert errors["syn"].startswith("SyntaxError: ")
    half = next(report for report in reports if report.name == "half")
    assert (half.distribution, half.version, half.value, half.group, half.codes) == (
        "p-half",
        "1.0",
        "p_half:register",
        GROUP,
        (),
    )


def test_a_process_survives_all_of_them(tmp_path: Path) -> None:
    """The same in a fresh interpreter, whose exit code is its own."""
    put(tmp_path, "good", GOOD)
    put(tmp_path, "exit", "import sys\ndef register(f):\n    sys.exit('bye')\n")
    put(tmp_path, "abort", "def register(f):\n    raise KeyboardInterrupt\n")
    put(tmp_path, "hang", "import threading\nthreading.Event().wait()\n")
    done = run_python(
        """
        import toolcrib
        print(toolcrib.discover_plugins(timeout=5))
        print(toolcrib.resolve_tools(["good"]), toolcrib.get_capability_meta("good"))
        """,
        tmp_path,
    )
    assert done.stdout.splitlines() == [
        "['good']",
        "['fine'] {'code': 'good', 'name': 'Good', 'description': 'd', 'tool_names': ['fine']}",
    ]
    assert done.returncode == 0


@pytest.mark.parametrize(
    "text",
    [
        "import threading\nthreading.Event().wait()\n",
        "import threading\ndef register(f):\n    f('hang', ['x'])\n    threading.Event().wait()\n",
        (
            "import asyncio\n"
            "async def register(f):\n    f('hang', ['x'])\n    await asyncio.Event().wait()\n"
        ),
    ],
    ids=["import", "register", "async register"],
)
async def test_a_hang_is_bounded_and_named(site: Path, registry: Registry, text: str) -> None:
    """Whatever hangs is left behind after the deadline; plugins after it load."""
    put(site, "hang", text)
    put(site, "later", GOOD)
    reports = await discover(registry, timeout=2)
    assert statuses(reports) == {"hang": "failed", "later": "loaded"}
    assert "still loading after 2 s" in (reports[0].error or "")
    assert list(registry.snapshot().bundles) == ["good"]


async def test_what_a_late_plugin_registers_is_refused(
    site: Path, registry: Registry, caplog: pytest.LogCaptureFixture
) -> None:
    """A plugin that wakes up after its deadline cannot slip its tools in."""
    put(
        site,
        "late",
        """
        import threading
        from toolcrib import register_tools
        go, done = threading.Event(), threading.Event()
        def register(registry_fn):
            go.wait()
            registry_fn("late", ["x"])
            register_tools("late", ["y"])
            done.set()
        """,
    )
    [report] = await discover(registry, timeout=0.2)
    module = await imported("p_late")
    with caplog.at_level(logging.WARNING):
        module.go.set()
        assert await asyncio.to_thread(module.done.wait, 60)
    assert report.status == "failed"
    assert dict(registry.snapshot().bundles) == {}
    assert caplog.text.count("refused: plugin 'late' of p-late 1.0") == 2


@pytest.mark.parametrize(
    ("raised", "error"),
    [
        ("GeneratorExit", "GeneratorExit"),
        ("KeyboardInterrupt", "KeyboardInterrupt"),
        ("SystemExit", "SystemExit"),
        ("StopIteration('x')", "StopIteration: x"),
        ("type('Odd', (BaseException,), {})('y')", "Odd: y"),
        ("__import__('asyncio').CancelledError", "CancelledError"),
        (
            "type('Mute', (Exception,), {'__str__': lambda s: 1 / 0})",
            "Mute",
        ),
    ],
)
@pytest.mark.parametrize("form", ["def", "async def"])
async def test_every_exception_is_only_that_plugins_end(
    site: Path, registry: Registry, raised: str, error: str, form: str
) -> None:
    """BaseException and its odd relatives too, raised from a sync or an async register."""
    put(site, "bad", f"{form} register(f):\n    f('bad', ['x'])\n    raise {raised}\n")
    put(site, "good", GOOD)
    reports = await discover(registry)
    assert statuses(reports) == {"bad": "failed", "good": "loaded"}
    if form == "def":
        assert reports[0].error == error
    assert list(registry.snapshot().bundles) == ["good"]


async def test_the_cause_is_named_and_a_huge_message_is_cut(site: Path, registry: Registry) -> None:
    """One line: the exception, what caused it, of bounded length."""
    put(
        site,
        "cause",
        "try:\n    {}['k']\nexcept KeyError as e:\n    raise ImportError('no k') from e\n",
    )
    put(site, "huge", "raise ValueError('line\\n' * 1_000_000)\n")
    cause, huge = await discover(registry)
    assert cause.error == "ImportError: no k caused by KeyError: 'k'"
    assert huge.error is not None
    assert huge.error.startswith("ValueError: line line")
    assert len(huge.error) < 400


async def test_a_plugin_in_two_groups_or_in_two_folders_loads_once(
    site: Path, tmp_path: Path, registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One report, one registration, one run of `register`."""
    text = "runs = []\ndef register(f):\n    runs.append(1)\n    f('twice', [object()])\n"
    groups = {GROUP: {"twice": "p_twice:register"}, "toolcrib.tools": {"again": "p_twice:register"}}
    lay_out(site, "p-twice", files={"p_twice.py": text}, entry_points=groups)
    other = tmp_path / "other"
    lay_out(other, "P_Twice", files={"p_twice.py": text}, entry_points=groups, version="0.9")
    monkeypatch.setattr(sys, "path", [*sys.path, str(other), str(site)])
    [report] = await discover(registry)
    assert (report.name, report.group, report.version) == ("again", "toolcrib.tools", "1.0")
    assert sys.modules["p_twice"].runs == [1]
    assert len(registry.snapshot().bundles["twice"].entries) == 1


async def test_two_plugins_that_clash_both_load_and_the_first_name_wins(
    site: Path, registry: Registry
) -> None:
    """Plugins load in the order of their names; resolve_tools keeps the first of a tool name."""
    maker = "class T:\n    name = 'same'\n    def __init__(s, who): s.who = who\n"
    for name in ("zeta", "alpha"):
        put(site, name, f"{maker}def register(f):\n    f('shared', [T({name!r})])\n")
    reports = await discover(registry)
    assert [report.name for report in reports] == ["alpha", "zeta"]
    assert [tool.who for tool in registry.resolve_tools("shared")] == ["alpha"]
    entries = registry.snapshot().bundles["shared"].entries
    assert [str(e.origin) for e in entries] == ["p-alpha 1.0", "p-zeta 1.0"]


@pytest.mark.parametrize(
    ("signature", "got"),
    [
        ("registry_fn", None),
        ("registry_fn, context=None", "ctx"),
        ("registry_fn, host", "ctx"),
        ("registry_fn, anything=5, more=6", "ctx"),
        ("*args", "ctx"),
        ("registry_fn, *rest", "ctx"),
        ("registry_fn, *, context", "ctx"),
        ("registry_fn, *, context=None", "ctx"),
        ("registry_fn, *, other=None", None),
        ("registry_fn, **others", None),
        ("registry_fn, /", None),
        ("registry_fn, context, /", "ctx"),
    ],
)
@pytest.mark.parametrize("form", ["def", "async def"])
async def test_the_signature_decides_about_the_context(
    site: Path, registry: Registry, signature: str, got: object, form: str
) -> None:
    """A second parameter of any name gets it, a keyword-only one must be called context."""
    put(
        site,
        "sig",
        f"seen = []\n{form} register({signature}):\n"
        "    seen.append({k: v for k, v in locals().items()})\n"
        "    every = [x for v in locals().values() for x in (v if isinstance(v, tuple) else [v])]\n"
        "    (every[0] if callable(every[0]) else every[1])('sig', ['x'])\n",
    )
    [report] = await discover(registry, "ctx")
    assert report.error is None
    [seen] = sys.modules["p_sig"].seen
    flat = [x for v in seen.values() for x in (v if isinstance(v, tuple) else [v])]
    assert ("ctx" if "ctx" in flat else None) == got
    assert list(registry.snapshot().bundles) == ["sig"]


async def test_registrations_at_import_count_with_the_rest(site: Path, registry: Registry) -> None:
    """@capability in a module lands in the registry being filled, with the plugin's origin."""
    text = """
        from toolcrib import capability, condition, register_tools

        @capability("deco")
        def at_import():
            return 1

        @condition("deco")
        def sometimes(situation):
            return True

        def register(registry_fn):
            registry_fn("given", [at_import])
        """
    put(site, "deco", text)
    [report] = await discover(registry)
    assert report.codes == ("deco", "given")
    snapshot = registry.snapshot()
    assert [str(e.origin) for e in snapshot.bundles["deco"].entries] == ["p-deco 1.0"]
    assert snapshot.conditions["deco"].origin == snapshot.bundles["deco"].entries[0].origin
    # Python imports a module once; another registry in this process gets the same.
    other = Registry()
    [again] = await discover(other)
    assert again.codes == ("deco", "given")
    assert other.resolve_tools("deco") == registry.resolve_tools("deco")


async def test_registrations_at_import_are_rolled_back_too(site: Path, registry: Registry) -> None:
    """Tools and conditions of a plugin that fails later are gone, from every door."""
    put(
        site,
        "rolled",
        """
        from toolcrib import capability, condition
        @capability("rolled")
        def tool(): ...
        @condition("rolled")
        def never(situation): ...
        def register(registry_fn, context=None):
            registry_fn("rolled_too", [tool])
            raise RuntimeError("late")
        """,
    )
    [report] = await discover(registry)
    assert (report.status, report.codes) == ("failed", ())
    snapshot = registry.snapshot()
    assert (dict(snapshot.bundles), dict(snapshot.conditions)) == ({}, {})


async def test_a_module_without_function_may_register_by_decorators(
    site: Path, registry: Registry
) -> None:
    """An entry point may name only a module, if importing it registers something."""
    put(
        site,
        "mod",
        "from toolcrib import register_tools\nregister_tools('mod', ['x'])\n",
        value="p_mod",
    )
    put(site, "empty", "x = 1\n", value="p_empty")
    empty, mod = await discover(registry)
    assert (mod.status, mod.codes) == ("loaded", ("mod",))
    assert (empty.status, "registers nothing" in (empty.error or "")) == ("failed", True)


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ("None", "InvalidOptions: Tools are given as a list, not as NoneType"),
        ("{'a': 1}", "InvalidOptions: Tools are given as a list, not as dict"),
        ("(1 / 0 for _ in 'x')", "ZeroDivisionError"),
    ],
)
async def test_unusable_lists_fail_that_plugin_only(
    site: Path, registry: Registry, given: str, error: str
) -> None:
    """The author reads what to write; the plugin's other registrations are dropped with it."""
    put(site, "odd", f"def register(f):\n    f('ok', ['x'])\n    f('odd', {given})\n")
    put(site, "tidy", "def register(f):\n    f('tidy', (x for x in ['a', 'b']))\n")
    odd, tidy = await discover(registry)
    assert (odd.error or "").startswith(error)
    assert tidy.status == "loaded"
    assert registry.resolve_tools(["ok", "odd", "tidy"]) == ["a", "b"]


async def test_a_bad_code_fails_that_plugin_only(site: Path, registry: Registry) -> None:
    """A code that cannot be one is the author's error."""
    put(site, "code", "def register(f):\n    f('Bad Code', ['x'])\n")
    [report] = await discover(registry)
    assert (report.error or "").startswith("InvalidOptions: 'Bad Code' cannot be a code.")


async def test_broken_metadata_hides_only_itself(site: Path, registry: Registry) -> None:
    """One unreadable entry_points.txt is reported, and the others are still found."""
    info = lay_out(site, "p-broken", files={}, entry_points={})
    info.joinpath("entry_points.txt").write_text(f"[{GROUP}]\nthis is no entry\n")
    nameless = lay_out(
        site, "p-nameless", files={"p_n.py": GOOD}, entry_points={GROUP: {"n": "p_n:register"}}
    )
    nameless.joinpath("METADATA").unlink()
    put(site, "odd", None, value="not a module!")
    put(site, "good", GOOD)
    reports = await discover(registry)
    assert statuses(reports) == {
        "good": "loaded",
        "n": "loaded",
        "odd": "failed",
        "p-broken": "failed",
    }
    by_name = {report.name: report for report in reports}
    assert by_name["n"].distribution == "p_nameless"
    assert "entry_points.txt cannot be read" in (by_name["p-broken"].error or "")
    assert "not of the form module:function" in (by_name["odd"].error or "")


async def test_a_failed_plugin_gives_the_output_streams_back(
    site: Path, registry: Registry, capsys: pytest.CaptureFixture[str]
) -> None:
    """One that replaced sys.stdout and failed does not keep it; noise on stdout is harmless."""
    put(
        site,
        "mute",
        "import io, sys\nprint('noise')\nsys.stdout = io.StringIO()\nraise OSError('x')\n",
    )
    before = sys.stdout
    [report] = await discover(registry)
    assert report.status == "failed"
    assert sys.stdout is before
    assert capsys.readouterr().out == "noise\n"


async def test_a_thread_started_at_import_does_not_matter(site: Path, registry: Registry) -> None:
    """The plugin loads; its thread goes on."""
    put(
        site,
        "thread",
        """
        import threading
        stop = threading.Event()
        threading.Thread(target=stop.wait, daemon=True, name="of a plugin").start()
        def register(f):
            f("thread", ["x"])
        """,
    )
    [report] = await discover(registry)
    assert report.status == "loaded"
    assert "of a plugin" in [thread.name for thread in threading.enumerate()]
    sys.modules["p_thread"].stop.set()


async def test_a_warning_that_is_an_error_here_fails_only_its_plugin(
    site: Path, registry: Registry
) -> None:
    """This run treats warnings as errors; the one who warns is named."""
    put(site, "warns", "import warnings\nwarnings.warn('old', DeprecationWarning)\n" + GOOD)
    put(site, "good", GOOD)
    good, warns = await discover(registry)
    assert (good.status, warns.error) == ("loaded", "DeprecationWarning: old")


async def test_later_registrations_of_a_loaded_plugin_count(site: Path, registry: Registry) -> None:
    """A plugin may keep the function and register more once it runs."""
    put(site, "keeps", "kept = []\ndef register(f):\n    kept.append(f)\n    f('keeps', ['a'])\n")
    await discover(registry)
    before = registry.version
    sys.modules["p_keeps"].kept[0]("keeps", ["b"])
    assert registry.resolve_tools("keeps") == ["a", "b"]
    assert registry.version > before
    origins = {str(entry.origin) for entry in registry.snapshot().bundles["keeps"].entries}
    assert origins == {"p-keeps 1.0"}


async def test_the_synchronous_call_works_inside_a_running_loop(
    site: Path, registry: Registry
) -> None:
    """PrimeThink's discover_plugins(context) passes the context and returns names."""
    put(
        site,
        "seen",
        "seen = []\nasync def register(f, context):\n    seen.append(context)\n    f('seen', [])\n",
    )
    assert discover_plugins("the context", registry=registry) == ["seen"]
    assert sys.modules["p_seen"].seen == ["the context"]


async def test_other_groups_are_looked_at_when_named(site: Path, registry: Registry) -> None:
    """A setting may add groups; a group nobody named is not loaded."""
    put(site, "own", GOOD, group="acme.tools")
    assert await discover(registry) == []
    [report] = await discover(registry, groups=("acme.tools",))
    assert (report.status, report.group) == ("loaded", "acme.tools")


async def test_a_report_as_json_has_the_fields_of_the_list(site: Path, registry: Registry) -> None:
    """What a surface shows of a plugin."""
    put(site, "good", GOOD)
    [report] = await discover(registry)
    shown = report.as_json()
    assert shown.pop("duration_ms") > 0
    assert shown == {
        "name": "good",
        "distribution": "p-good",
        "version": "1.0",
        "value": "p_good:register",
        "group": GROUP,
        "status": "loaded",
        "error": None,
        "codes": ["good"],
    }


async def test_cancelling_discovery_drops_what_was_half_loaded(
    site: Path, registry: Registry
) -> None:
    """Nothing of the plugin that was loading remains."""
    put(
        site,
        "slow",
        """
        import threading
        go = threading.Event()
        def register(f, context):
            f("slow", ["x"])
            context.set()
            go.wait()
        """,
    )
    begun = threading.Event()
    plugins = Plugins(registry, begun)
    task = asyncio.create_task(plugins.load())
    assert await asyncio.to_thread(begun.wait, 60)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    sys.modules["p_slow"].go.set()
    assert dict(registry.snapshot().bundles) == {}
