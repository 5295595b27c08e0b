"""The published description and the server agree: no request finds an error of the server.

A few requests for each operation in a normal run. `script/soak` tries many, of every kind: it sets
TOOLCRIB_SOAK, and TOOLCRIB_SOAK_SCALE says how many of them.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest
import requests
import schemathesis
from schemathesis.config import SchemathesisConfig

from tests.support.crib import open_crib
from tests.support.listening import listening
from tests.support.worlds import furnish, furniture
from toolcrib.asgi import create_app_for
from toolcrib.settings import Settings
from toolcrib.surfaces.http.serving import rest

SOAK = bool(os.environ.get("TOOLCRIB_SOAK"))
SCALE = float(os.environ.get("TOOLCRIB_SOAK_SCALE", "1"))
EXAMPLES = max(4, round(200 * SCALE)) if SOAK else 4
CONFIG = SchemathesisConfig.from_dict(
    {
        # Coverage is every kind of wrong value for every field: it has no size to choose.
        "phases": {"coverage": {"enabled": SOAK and SCALE >= 1}, "stateful": {"enabled": False}},
        "generation": {"max-examples": EXAMPLES, "mode": "all", "deterministic": True},
    }
)
SCHEMA = schemathesis.openapi.from_dict(rest().openapi(), config=CONFIG)
LONGEST = 60_000
"""Characters of an address. What is longer is refused by the parser of HTTP, for any path."""
CHECKS = [
    schemathesis.checks.not_a_server_error,
    schemathesis.checks.CHECKS.get_one("status_code_conformance"),
    schemathesis.checks.CHECKS.get_one("content_type_conformance"),
    schemathesis.checks.CHECKS.get_one("response_schema_conformance"),
]


class Served(threading.Thread):
    """A furnished installation that listens, in a thread and loop of its own."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(name="served")
        self._settings = settings
        self._end = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self.ready = threading.Event()
        self.url = ""
        self.token = ""

    def run(self) -> None:
        try:
            asyncio.run(self._serve())
        finally:
            self.ready.set()

    def end(self) -> None:
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._end.set)
        self.join()

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        async with open_crib(self._settings, registry=furniture()) as crib:
            await furnish(crib, "kestrel")
            self.token = (await crib.somebody(1)).token
            async with listening(create_app_for(crib.platform)) as self.url:
                self.ready.set()
                await self._end.wait()


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    data_dir: Path = tmp_path_factory.mktemp("served")
    thread = Served(Settings(data_dir=data_dir, call_timeout=5))
    thread.start()
    thread.ready.wait(60)
    yield thread
    thread.end()


def address(case: schemathesis.Case, base: str) -> str:
    given = case.as_transport_kwargs(base_url=base)
    return requests.Request("GET", given["url"], params=given.get("params")).prepare().url or ""


@SCHEMA.parametrize()
@hypothesis.settings(deadline=None, suppress_health_check=list(hypothesis.HealthCheck))
def test_every_operation_keeps_its_word(case: schemathesis.Case, served: Served) -> None:
    """No 5xx, and statuses, media types and bodies as the description says."""
    if case.path_parameters.get("user_id") == 1:
        case.path_parameters["user_id"] = 2  # whoever asks stays a super-admin
    hypothesis.assume(len(address(case, served.url)) <= LONGEST)
    headers = {"Authorization": f"Bearer {served.token}"}
    case.call_and_validate(base_url=served.url, headers=headers, checks=CHECKS, timeout=30)
