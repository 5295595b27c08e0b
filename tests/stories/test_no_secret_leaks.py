"""Values of settings and secrets are sent to the upstream, and are found nowhere else.

The upstream gives them back in every way it can; then everything that leaves is searched.
"""

from __future__ import annotations

import base64
import html
import io
import json
import logging
import re
import sqlite3
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import closing
from typing import Any
from urllib.parse import quote, quote_plus

import pytest
import structlog

from tests.support.endpoints import Endpoints, open_endpoints
from toolcrib.settings import Settings
from toolcrib.sources.http.results import TEXT_LIMIT
from toolcrib.testing.replies import answer, close_early, drop, raw

VALUES = {
    "plain": "sk-live-0123456789abcdefghij",
    "marked": 'p4ss/w0rd+"quo\\ted"&<tag>=%41{x}',
    "long": "".join(f"{number:04x}-" for number in range(800)),
}
Form = Callable[[str], str]
FORMS: dict[str, Form] = {
    "plain": str,
    "url": lambda value: quote(value, safe=""),
    "form": quote_plus,
    "json": lambda value: json.dumps(value)[1:-1],
    "json twice": lambda value: json.dumps(json.dumps(value))[3:-3],
    "html": html.escape,
    "base64": lambda value: base64.b64encode(value.encode()).decode(),
    "base64 in lines": lambda value: base64.encodebytes(f"a text, {value}".encode()).decode(),
    "base64 in a url": lambda value: quote(base64.b64encode(value.encode()).decode(), safe=""),
    "base64 for urls": lambda value: base64.urlsafe_b64encode(value.encode()).decode().rstrip("="),
    "base64 of a form": lambda value: base64.b64encode(f"k={quote_plus(value)}".encode()).decode(),
    "small percent": lambda value: re.sub("%..", lambda m: m[0].lower(), quote(value, safe="")),
    "basic": lambda value: base64.b64encode(f"user:{value}".encode()).decode(),
}
KINDS = ["text/plain", "text/html", "application/json", "application/octet-stream"]


def pieces_of(value: str) -> Iterator[str]:
    """Parts of a value that nobody writes by accident: runs of twelve characters, all over it."""
    for start in range(0, max(1, len(value) - 11), max(6, len(value) // 60)):
        yield value[start : start + 12]


def found_in(text: str, value: str) -> list[str]:
    return [piece for form in FORMS.values() for piece in pieces_of(form(value)) if piece in text]


@pytest.fixture
def logged() -> AsyncGenerator[io.StringIO]:
    """Everything that is logged, at the finest level, by structlog and by logging."""
    written = io.StringIO()
    handler = logging.StreamHandler(written)
    root = logging.getLogger()
    before, level = structlog.get_config(), root.level
    structlog.configure(
        processors=[structlog.processors.format_exc_info, structlog.processors.KeyValueRenderer()],
        wrapper_class=structlog.make_filtering_bound_logger(0),
        logger_factory=structlog.PrintLoggerFactory(written),
        cache_logger_on_first_use=False,
    )
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    yield written
    root.removeHandler(handler)
    root.setLevel(level)
    structlog.configure(**before)


@pytest.fixture
async def endpoints(settings: Settings, logged: io.StringIO) -> AsyncGenerator[Endpoints]:
    async with open_endpoints(settings, breaker_failures=0, log_level="debug") as opened:
        yield opened


async def plant(endpoints: Endpoints, value: str, method: str = "GET") -> None:
    """An API capability `a` and a package `p` that send the value in a header and in the query."""
    desk, root = endpoints.crib.desk, endpoints.root.caller
    await desk.settings.put(root, "KEY", value)
    await desk.secrets.put(root, "KEY", value)
    path = "/x?key="
    await endpoints.api("a", path + "${KEY}", method=method, headers={"X-Key": "${KEY}"})
    await endpoints.package("p", path + "{{KEY}}", method=method, headers={"X-Key": "{{KEY}}"})


async def leaks(
    endpoints: Endpoints, outcomes: list[Any], logged: io.StringIO, value: str
) -> dict[str, str]:
    """Where the value is, with some of it: all that a person, a model or a thief could read."""
    storage, settings = endpoints.crib.platform.storage, endpoints.crib.platform.settings
    await storage.journal.flush()
    said: dict[str, object] = {f"outcome {n}": one.output for n, one in enumerate(outcomes)}
    api, path = endpoints.root.api, f"/api/v1/agents/{endpoints.agent}"
    for tool in ("a", "p"):
        for verb in ("call", "preview"):
            got = await api.post(f"{path}/tools/{tool}/{verb}", json={"arguments": {}})
            said[f"{verb} {tool}"] = got.text + repr(dict(got.headers))
        asked = f"/api/v1/explain?agent={endpoints.agent}&tool={tool}"
        said[f"explain {tool}"] = (await api.get(asked)).text
    for listed in (f"{path}/tools", "/api/v1/calls", "/api/v1/settings", "/admin/secrets"):
        said[listed] = (await api.get(listed)).text
    said["log"] = logged.getvalue()
    said |= reprs(endpoints)
    with closing(sqlite3.connect(settings.data_dir / "toolcrib.db")) as database:
        said["database"] = "\n".join(database.iterdump())
    for file in settings.data_dir.rglob("*"):
        if file.is_file():
            said[file.name] = file.read_bytes().decode("latin-1")
    texts = {name: one if isinstance(one, str) else repr(one) for name, one in said.items()}
    found = {name: found_in(text, value) for name, text in texts.items()}
    return {name: pieces[0] for name, pieces in found.items() if pieces}


def reprs(endpoints: Endpoints) -> dict[str, str]:
    """What a debugger or a trace prints of every object of ours that the platform reaches."""
    seen: set[int] = set()
    waiting: list[Any] = [endpoints.crib.platform]
    printed: dict[str, str] = {}
    while waiting:
        node = waiting.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if type(node).__module__.startswith("toolcrib"):
            printed[f"repr of {type(node).__name__} {len(printed)}"] = repr(node)
            names = [*getattr(node, "__dict__", {}), *_slots(node)]
            waiting += [getattr(node, name, None) for name in names]
        elif isinstance(node, dict):
            waiting += node.values()
        elif isinstance(node, list | tuple | set | frozenset):
            waiting += node
    return printed


def _slots(node: object) -> list[str]:
    return [n for kind in type(node).__mro__ for n in getattr(kind, "__slots__", ())]


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES.keys())
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("status", [200, 401, 500])
async def test_an_echo_is_masked_everywhere(
    endpoints: Endpoints, logged: io.StringIO, value: str, kind: str, status: int
) -> None:
    """In a body of any type and status, in headers, in a file's name, in all forms at once."""
    await plant(endpoints, value)
    said = [form(value) for form in FORMS.values()]
    body = json.dumps({"echo": said, value: 1}) if "json" in kind else " | ".join(said)
    named = quote(value, safe="")
    headers = [
        ("Content-Type", f"{kind}; note={named}"),
        ("Content-Disposition", f'attachment; filename="{named}"'),
        ("X-Echo", named),
        ("Location", f"/next?key={named}"),
    ]
    endpoints.upstream.reply("/x", answer(status, body=body.encode(), headers=headers))

    outcomes = [await endpoints.call("a"), await endpoints.call("p")]

    assert endpoints.upstream.requests[0].header("X-Key") == value
    assert await leaks(endpoints, outcomes, logged, value) == {}


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES.keys())
async def test_pieces_of_a_stream_are_put_together_first(
    endpoints: Endpoints, logged: io.StringIO, value: str
) -> None:
    """A value that comes in two chunks is one value."""
    await plant(endpoints, value)
    half = len(value) // 2
    chunks = [f"before {value[:half]}".encode(), f"{value[half:]} after".encode()]
    framed = b"".join(b"%x\r\n%b\r\n" % (len(chunk), chunk) for chunk in chunks)
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n"
    endpoints.upstream.reply("/x", raw(head + framed + b"0\r\n\r\n"))

    outcomes = [await endpoints.call("a"), await endpoints.call("p")]

    assert outcomes[0].output.text == "before *** after"
    assert await leaks(endpoints, outcomes, logged, value) == {}


@pytest.mark.parametrize("limit", [TEXT_LIMIT, 256 * 1024], ids=["what is kept", "what is shown"])
@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES.keys())
async def test_no_half_of_a_value_stays_where_a_text_is_cut(
    endpoints: Endpoints, logged: io.StringIO, value: str, limit: int
) -> None:
    """The cut goes through the middle of the value: it is masked first."""
    await plant(endpoints, value)
    before = b"." * (limit - len(value) // 2)
    body = before + value.encode() + b"." * TEXT_LIMIT
    endpoints.upstream.reply("/x", answer(body=body))

    outcomes = [await endpoints.call("a"), await endpoints.call("p")]

    assert [outcome.output.truncated for outcome in outcomes] == [True, True]
    assert await leaks(endpoints, outcomes, logged, value) == {}


@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_what_goes_wrong_names_no_value(
    endpoints: Endpoints, logged: io.StringIO, method: str
) -> None:
    """Broken answers end in sentences, log lines and traces of ours."""
    value = VALUES["marked"]
    await plant(endpoints, value, method)
    nonsense = f"HTTP/1.1 200 {quote(value)}\r\nX: {quote(value)}\r\nbroken\r\n\r\n".encode()
    outcomes: list[Any] = []
    for reply in (drop(), close_early(value.encode(), promised=9999), raw(nonsense)):
        endpoints.upstream.reply("/x", reply)
        outcomes += [await endpoints.call("a"), await endpoints.call("p")]

    assert all(outcome.output.error is not None for outcome in outcomes)
    assert await leaks(endpoints, outcomes, logged, value) == {}


async def test_a_value_that_cannot_be_sent_is_not_named(
    endpoints: Endpoints, logged: io.StringIO
) -> None:
    """A line break in a header's value is refused in words that do not show it."""
    value = "sk-live-abcdefghijkl\nmnopqrstuvwxyz"
    desk, root = endpoints.crib.desk, endpoints.root.caller
    await desk.settings.put(root, "KEY", value)
    await desk.secrets.put(root, "KEY", value)
    await endpoints.api("a", "/x", headers={"X-Key": "${KEY}"})
    await endpoints.package("p", "/x", headers={"X-Key": "{{KEY}}"})

    outcomes = [await endpoints.call("a"), await endpoints.call("p")]

    assert endpoints.upstream.requests == []
    assert await leaks(endpoints, outcomes, logged, value) == {}


@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_an_argument_that_is_the_value_is_not_recorded(
    endpoints: Endpoints, logged: io.StringIO, method: str
) -> None:
    """Also where its start was written before anybody knew the value."""
    value = "s3cret-" + "v" * 20
    desk, root = endpoints.crib.desk, endpoints.root.caller
    await desk.secrets.put(root, "KEY", value)
    schema = {"type": "object", "properties": {"said": {"type": "string"}}}
    await endpoints.package(
        "p", "/x/{said}", method=method, headers={"X-Key": "{{KEY}}"}, schema=schema
    )
    outcome = await endpoints.call("p", said=f"it is {value}.")
    await endpoints.crib.platform.storage.journal.flush()

    (row,) = (await endpoints.root.api.get("/api/v1/calls")).json()["items"]
    assert (row["call_id"], row["arguments"]) == (outcome.call_id, {"said": "it is ***."})
    path = endpoints.crib.platform.settings.data_dir / "toolcrib.db"
    with closing(sqlite3.connect(path)) as database:
        assert value not in "\n".join(database.iterdump())


async def test_nothing_holds_a_value_after_a_change(endpoints: Endpoints) -> None:
    """What was made of the old value is gone when any setting changes."""
    value = VALUES["plain"]
    await plant(endpoints, value)
    await endpoints.call("a")
    await endpoints.call("p")
    await endpoints.crib.desk.settings.put(endpoints.root.caller, "OTHER", "something else")

    kept = endpoints.crib.platform.memory._shelves

    assert [len(shelf) for shelf in kept] == [0] * len(kept)
