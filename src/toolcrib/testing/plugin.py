"""This module is the pytest plugin: fixtures for the tests of a plugin. pytest finds it by itself.

It imports nothing of Toolcrib before a fixture is used, so it costs other tests nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from toolcrib.plugin.registration import Registry
    from toolcrib.settings import Settings
    from toolcrib.testing.models import ScriptedModel, Step


@pytest.fixture
def toolcrib_settings(tmp_path: Path) -> Settings:
    """Settings of a fresh installation that lives in this test's own folder."""
    from toolcrib.settings import Settings  # noqa: PLC0415

    return Settings(data_dir=tmp_path / "toolcrib")


@pytest.fixture
def toolcrib_registry() -> Registry:
    """A registry of this test's own: `register(toolcrib_registry.register_tools)`."""
    from toolcrib.plugin.registration import Registry  # noqa: PLC0415

    return Registry()


@pytest.fixture
def scripted_model() -> Generator[Callable[..., ScriptedModel]]:
    """`scripted_model(ToolCall("greet"), "Done.")` starts a model that follows the script."""
    from toolcrib.testing.models import ScriptedModel  # noqa: PLC0415

    with ExitStack() as stack:

        def start(*script: Step) -> ScriptedModel:
            return stack.enter_context(ScriptedModel(script))

        yield start
