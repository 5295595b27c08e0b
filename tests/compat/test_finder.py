"""The finder: last of all, for missing names only, and gone when it is told to go."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

from tests.support.packages import lay_out, run_python
from toolcrib.compat import kortix, primethink
from toolcrib.compat.finder import Aliases


def test_it_stands_at_the_end_once() -> None:
    """However often it is installed."""
    before = list(sys.meta_path)
    kortix.install()
    kortix.install()
    assert sys.meta_path[:-1] == before
    assert isinstance(sys.meta_path[-1], Aliases)
    kortix.uninstall()
    assert sys.meta_path == before


def test_names_come_and_go() -> None:
    """After uninstalling nothing of it is importable or left in sys.modules."""
    kortix.install()
    primethink.install()
    importlib.import_module("core.agentpress.tool")
    importlib.import_module("src.virtual_assistant_lc.tool_registry")
    kortix.uninstall()
    primethink.uninstall()
    left = [name for name in sys.modules if name.split(".")[0] == "core"]
    assert left == []
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("core.agentpress.tool")


def test_modules_say_what_they_have() -> None:
    """`dir`, `import *` and an unknown name."""
    kortix.install()
    module = importlib.import_module("core.agentpress.schema")
    assert module.__all__ == ["SchemaType", "ToolSchema", "openapi_schema", "param"]
    assert set(module.__all__) <= set(dir(module))
    with pytest.raises(AttributeError, match="has no attribute 'no_such_name'"):
        _ = module.no_such_name
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("core.agentpress.no_such_module")


@pytest.mark.parametrize(
    ("door", "module"),
    [(door, module) for door in (kortix, primethink) for module in vars(door)["_MODULES"]],
)
def test_every_name_can_be_had(door: object, module: str) -> None:
    """No alias points nowhere."""
    kortix.install()
    primethink.install()
    loaded = importlib.import_module(module)
    assert [name for name in loaded.__all__ if getattr(loaded, name) is None] == []
    assert len(loaded.__all__) > 0


OWN = {
    "core/__init__.py": "OWN = True",
    "core/agentpress/__init__.py": "",
    "core/agentpress/tool.py": "class Tool:\n    own = True",
    "src/utils/capabilities_utils.py": "OWN = True",
    "src/virtual_assistant_lc/__init__.py": "OWN = True",
}


def test_existing_packages_keep_their_modules(tmp_path: Path) -> None:
    """Only what they lack is provided; `src` may be a folder without an `__init__`."""
    lay_out(tmp_path, "p-own", files=OWN, entry_points={})
    done = run_python(
        """
        from toolcrib.compat import kortix, primethink
        kortix.install()
        primethink.install()
        import core, src.virtual_assistant_lc
        from core.agentpress.tool import Tool
        from core.agentpress.schema import param
        from core.tools.tool_registry import get_all_tools
        from src.utils import capabilities_utils
        from src.virtual_assistant_lc.tool_registry import register_tools
        print(core.OWN, Tool.own, param.__module__, get_all_tools.__module__)
        print(capabilities_utils.OWN, hasattr(capabilities_utils, "attach_mcp"))
        print(src.virtual_assistant_lc.OWN, register_tools.__module__)
        kortix.uninstall()
        left = hasattr(core, "tools"), hasattr(core.agentpress, "schema")
        print("core.agentpress.tool" in sys.modules, *left)
        """,
        tmp_path,
    )
    assert done.stdout.splitlines() == [
        "True True toolcrib.kit.schema toolcrib.kit.catalogue",
        "True False",
        "True toolcrib.plugin.registration",
        "True False False",
    ], done.stderr


def test_an_announced_class_has_kortix_module(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A group of the catalogue that is installed can be imported from its module there."""
    text = "from toolcrib.kit import Tool\nclass BrowserTool(Tool):\n    pass\n"
    lay_out(
        tmp_path,
        "p-browser",
        files={"p_browser.py": text},
        entry_points={"toolcrib.kit": {"browser_tool": "p_browser:BrowserTool"}},
    )
    monkeypatch.syspath_prepend(tmp_path)
    from toolcrib.kit.catalogue import forget_classes

    forget_classes()
    kortix.install()
    module = importlib.import_module("core.tools.browser_tool")
    assert module.BrowserTool.__module__ == "p_browser"
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("core.tools.sb_spreadsheet_tool")
    sys.modules.pop("p_browser")
