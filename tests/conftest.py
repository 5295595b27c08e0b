"""This module gives every test a clean place: no settings, keys or home of whoever runs it."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings

from tests.support.veil import hide_installed_plugins
from toolcrib.settings import Settings

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell's background jobs are deaf to Ctrl-C, and so would be all programs that tests start.
    signal.signal(signal.SIGINT, signal.default_int_handler)
hide_installed_plugins()
pytest_plugins = ["tests.contracts.databases"]
"""Fixtures of fresh databases, for the contracts of stores and for the tests of storage."""

# A shared machine may be slow at any moment; what is generated still decides.
hypothesis_settings.register_profile(
    "toolcrib", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
hypothesis_settings.load_profile("toolcrib")

_FOREIGN = ("TOOLCRIB_", "XDG_", "LANGSMITH_", "LANGCHAIN_", "OPENAI_", "ANTHROPIC_")


@pytest.fixture(scope="session", autouse=True)
def clean_environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """An empty home and none of the variables that change what Toolcrib does.

    pip keeps its configuration and cache: tests install real packages with it. Every worker of
    xdist has a home of its own.
    """
    home = Path.home()
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith(_FOREIGN)]:
            patch.delenv(name)
        for config in (home / ".config/pip/pip.conf", home / ".pip/pip.conf"):
            if config.is_file() and "PIP_CONFIG_FILE" not in os.environ:
                patch.setenv("PIP_CONFIG_FILE", str(config))
        if "PIP_CACHE_DIR" not in os.environ:
            patch.setenv("PIP_CACHE_DIR", str(home / ".cache" / "pip"))
        patch.setenv("NO_PROXY", "127.0.0.1,localhost,::1")
        patch.setenv("HOME", str(tmp_path_factory.mktemp("home")))
        yield


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    """A data directory of this test's own."""
    path = tmp_path / "data"
    path.mkdir(mode=0o700)
    return path


@pytest.fixture
def settings(data_dir: Path) -> Settings:
    """Settings of a fresh installation without the tools in the box: SQLite in the data directory,
    everything else default."""
    return Settings(data_dir=data_dir, builtin_tools=False)
