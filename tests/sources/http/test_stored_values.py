"""This module leaves stored values out, makes them hostile, and limits where they may go."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.sources.http.conftest import Bench, a_call
from toolcrib.errors import InvalidOptions, SecretUndecryptable, UnresolvedPlaceholderError
from toolcrib.invocation.steps import Mask
from toolcrib.secrets.binding import BoundValue
from toolcrib.secrets.forms import private_forms
from toolcrib.sources.http.api import ApiKind
from toolcrib.sources.http.packages import PackageKind
from toolcrib.sources.http.source import HttpSource
from toolcrib.testing.replies import json_answer

KB: dict[str, Any] = {
    "slug": "kb",
    "name": "KB",
    "type": "http",
    "config": {"url": "{{KB_URL}}", "method": "GET", "headers": {"X-API-Key": "{{KB_KEY}}"}},
    "input_schema": {"type": "object", "properties": {"q": {"type": "string"}}},
}


@pytest.mark.parametrize("values", [{}, {"TOKEN": ""}, {"TOKEN": "  \n"}])
@pytest.mark.parametrize(
    ("options", "where"),
    [
        ({"headers": {"Authorization": "Bearer ${TOKEN}"}}, "options.headers.Authorization"),
        ({"url": "https://api.test/${TOKEN}"}, "options.url"),
        (
            {"method": "POST", "body_template": {"a": [{"k": "x${TOKEN}"}]}},
            "options.body_template.a[0].k",
        ),
        ({"method": "POST", "body_template": "k=${TOKEN}"}, "options.body_template"),
    ],
)
async def test_a_missing_setting_stops_the_tool_with_its_name_and_place(
    bench: Bench, options: dict[str, Any], where: str, values: dict[str, str]
) -> None:
    """Missing, empty and blank are the same; nothing is opened, so nothing can be sent."""
    with pytest.raises(UnresolvedPlaceholderError, match="'TOKEN'") as caught:
        await bench.api({"name": "x", "url": "https://api.test", **options}, values)
    assert caught.value.where == where
    assert "could not be resolved" in str(caught.value)


async def test_the_kinds_say_which_values_they_need(bench: Bench) -> None:
    """Settings of url, headers and body_template; secrets of the package's config alone."""
    options = {
        "url": "https://${HOST}/$${NOT}",
        "headers": {"A": "${TOKEN}", "B": "{{NOT_HERE}}"},
        "body_template": {"x": ["${K}"], "${NOT}": 1},
        "description": "${NOT}",
    }
    api = ApiKind(bench.client).needs({"name": "x", "options": options})
    assert (api.settings, api.secrets) == ({"HOST", "TOKEN", "K"}, frozenset())

    async def never(name: str) -> str:
        raise AssertionError(name)

    package = {**KB, "description": "{{NOT}}", "config": {**KB["config"], "static_body": ["{{S}}"]}}
    found = PackageKind(bench.client, never).needs(package)
    assert (found.settings, found.secrets) == (frozenset(), {"KB_URL", "KB_KEY", "S"})


async def test_a_package_without_its_secret_sends_nothing(bench: Bench) -> None:
    """The call fails closed and names the secret; a blank value counts as missing."""
    bench.secrets["KB_URL"] = bench.url("/s")
    source = await bench.package(KB)
    for value in (None, "", " \t"):
        if value is not None:
            bench.secrets["KB_KEY"] = value
        output = await bench.call(source, {"q": "x"})
        assert output.error is not None
        assert output.error.code == "secret_missing"
        assert "'KB_KEY'" in output.text
    assert bench.upstream.requests == []


async def test_a_package_with_a_lost_key_sends_nothing(bench: Bench) -> None:
    """A secret that cannot be unsealed is named, and is not the text of its placeholder."""

    async def lost(name: str) -> str:
        raise SecretUndecryptable(f"{name!r} was sealed with a key that is not here.")

    source = await PackageKind(bench.client, lost).open(KB, {})
    output = await bench.call(source, {"q": "x"})
    assert output.error is not None
    assert output.error.code == "undecryptable"
    assert "'KB_KEY'" in output.text
    assert bench.upstream.requests == []


async def test_a_rotated_secret_is_used_by_the_next_call(bench: Bench) -> None:
    """Secrets are looked up for every call."""
    bench.secrets |= {"KB_URL": bench.url("/s"), "KB_KEY": "first-key"}
    source = await bench.package(KB)
    assert (await bench.sent(source, {})).header("X-API-Key") == "first-key"
    bench.secrets["KB_KEY"] = "second-key"
    assert (await bench.sent(source, {})).header("X-API-Key") == "second-key"


async def test_values_come_out_as_they_are(bench: Bench) -> None:
    """Values that hold templates of all three languages are sent to the letter, once."""
    settings = {
        "USER_NAME": "${JWT_SECRET}",
        "K": '{text}{{JWT_SECRET}}\\1$& "\n',
        "JWT_SECRET": "server-only",
    }
    source = await bench.api(
        {
            "name": "h",
            "method": "POST",
            "url": bench.url("/h/{id}"),
            "headers": {"X-User": "${USER_NAME}"},
            "body_template": {"t": "{text}", "k": "${K}"},
        },
        settings,
    )
    request = await bench.sent(
        source, {"id": "${JWT_SECRET}", "text": "{id} ${JWT_SECRET} {{JWT_SECRET}}"}
    )
    assert json.loads(request.body) == {
        "t": "{id} ${JWT_SECRET} {{JWT_SECRET}}",
        "k": '{text}{{JWT_SECRET}}\\1$& "\n',
    }
    assert request.header("X-User") == "${JWT_SECRET}"
    assert request.target == "/h/%24%7BJWT_SECRET%7D"
    assert b"server-only" not in request.raw


@pytest.mark.parametrize("value", ["a\r\nX-Admin: 1", "a\nb", "a\rb", "tok\x00", "x\x1b[0m"])
async def test_no_stored_value_can_end_a_header(bench: Bench, value: str) -> None:
    """Control characters in a header are refused with the header's name, without the value."""
    with pytest.raises(InvalidOptions, match="'X-Key'") as caught:
        await bench.api(
            {"name": "x", "url": bench.url("/"), "headers": {"X-Key": "${K}"}}, {"K": value}
        )
    assert value not in str(caught.value)
    bench.secrets |= {"KB_URL": bench.url("/"), "KB_KEY": value}
    output = await bench.call(await bench.package(KB), {})
    assert output.error is not None
    assert "control characters" in output.text
    assert bench.upstream.requests == []


async def test_a_line_break_around_a_header_value_is_not_sent(bench: Bench) -> None:
    """Spaces at its ends are dropped; a copied line break is refused, not guessed away."""
    options = {"name": "x", "url": bench.url("/"), "headers": {"X-Key": " ${K} "}}
    source = await bench.api(options, {"K": " tok "})
    assert (await bench.sent(source, {})).header("X-Key") == "tok"


async def test_braces_in_headers_are_text(bench: Bench) -> None:
    """Headers have no slots: no argument gets into one."""
    source = await bench.api(
        {
            "name": "x",
            "url": bench.url("/{id}"),
            "headers": {"X-Note": "{id} {other} $${A}", "X-N": 3, "X-B": True},
        }
    )
    request = await bench.sent(source, {"id": "7"})
    assert request.header("X-Note") == "{id} {other} ${A}"
    assert (request.header("X-N"), request.header("X-B")) == ("3", "true")


async def test_every_used_value_is_searched_for_in_the_result(bench: Bench) -> None:
    """An upstream that echoes the key and the stored URL gives the model neither."""
    url = bench.url("/echo/T000/B000/very-long-hook-token?key=url-secret-1")
    bench.upstream.reply(
        "/echo/T000/B000/very-long-hook-token",
        json_answer(
            {
                "key": "kb-secret-9",
                "url": url,
                "tail": url[url.index("/echo") :],
                "q": "url-secret-1",
            }
        ),
    )
    bench.secrets |= {"KB_URL": url, "KB_KEY": "kb-secret-9"}
    source = await bench.package(KB)
    call = a_call({"q": "x"})
    output = await source.call("kb", call)
    assert call.secrets >= {"kb-secret-9", url, "url-secret-1"}

    class Flight:
        secrets = call.secrets

    masked = Mask()(Flight(), output)  # type: ignore[arg-type]
    for secret in ("kb-secret-9", "url-secret-1", "very-long-hook-token"):
        assert secret not in masked.text
        assert secret not in repr(masked.structured)


def test_only_telling_parts_of_a_url_are_private() -> None:
    """The path of an ordinary address is no secret of its own."""
    assert private_forms(["https://kb.test/s?key=abcdef"]) == {
        "https://kb.test/s?key=abcdef",
        "abcdef",
    }
    assert private_forms(["https://[broken/s"]) == {"https://[broken/s"}


async def test_reprs_show_no_value(bench: Bench) -> None:
    """What logs and debuggers print of an open tool has no value in it."""
    source = await bench.api(
        {"name": "x", "url": bench.url("/"), "headers": {"X-Key": "${K}"}}, {"K": "key-in-repr"}
    )
    assert "key-in-repr" not in repr(source)
    assert "key-in-repr" not in repr(BoundValue("key-in-repr", ["a.test"]))


async def limited(bench: Bench, hosts: list[str]) -> HttpSource:
    """A package whose key may go to these hosts only."""
    bench.secrets |= {"KB_URL": bench.url("/s"), "KB_KEY": BoundValue("limited-key", hosts)}
    return await bench.package(KB)


async def test_a_value_goes_to_its_hosts_only(bench: Bench) -> None:
    """Elsewhere the call is refused before anything is sent; the value is not shown."""
    refused = await bench.call(await limited(bench, ["api.test", "*.corp.test"]), {})
    assert refused.error is not None
    assert refused.error.code == "blocked"
    assert refused.text == (
        "API request blocked: 'KB_KEY' may be sent to api.test, *.corp.test only, not to '***'."
    )
    assert bench.upstream.requests == []
    allowed = await limited(bench, ["127.0.0.1"])
    assert (await bench.sent(allowed, {})).header("X-API-Key") == "limited-key"
    port = await limited(bench, [f"127.0.0.1:{bench.upstream.port + 1}"])
    assert (await bench.call(port, {})).success is False


async def test_a_limited_setting_does_not_follow_a_chosen_host(bench: Bench) -> None:
    """Where the model chooses the host, the limit is checked for every call."""
    origin = bench.url("/").replace("127.0.0.1", "{host}")
    source = await bench.api(
        {"name": "x", "url": origin, "headers": {"X-Key": "${K}"}},
        {"K": BoundValue("limited-key", ["api.test"])},
    )
    output = await bench.call(source, {"host": "127.0.0.1"})
    assert output.error is not None
    assert output.error.code == "blocked"
    assert bench.upstream.requests == []


@pytest.mark.parametrize(
    "options",
    [
        {"headers": {"X-Key": "${K}"}},
        {"method": "POST", "body_template": {"key": "${K}"}},
        {"method": "POST", "body_template": "key ${K}"},
        {"path": "/${K}"},
        {"path": "/?key=${K}"},
    ],
)
async def test_a_value_without_hosts_never_goes_to_a_chosen_one(
    bench: Bench, options: dict[str, Any]
) -> None:
    """Wherever it stands: the host is the model's, so the value stays; its author was warned."""
    origin = bench.url("").replace("127.0.0.1", "{host}")
    given = {"name": "x", "url": origin + options.get("path", "/"), **options}
    given.pop("path", None)
    source = await bench.api(given, {"K": "unlimited-key"})
    output = await bench.call(source, {"host": "127.0.0.1"})
    assert output.error is not None
    assert (output.error.code, "'K' is limited to no hosts" in output.text) == ("blocked", True)
    assert "unlimited-key" not in repr(output)
    assert (bench.upstream.requests, bench.upstream.connections) == ([], 0)
    preview = await source.preview("x", {"host": "127.0.0.1"})
    assert preview.egress["allowed"] is False
    assert "'K' is limited to no hosts" in preview.egress["reason"]

    findings = ApiKind(bench.client).check({"code": "x", "name": "x", "options": given})
    assert [(f.where, f.severity) for f in findings if "chooses the host" in f.message] == [
        ("options.url", "warning")
    ]
    source = await bench.api(given, {"K": BoundValue("limited-key", ["127.0.0.1"])})
    await bench.sent(source, {"host": "127.0.0.1"})


async def test_a_package_keeps_its_secret_from_a_chosen_host(bench: Bench) -> None:
    """A part of the host is enough: anybody may own another part."""
    port = bench.upstream.port
    package = {
        **KB,
        "config": {
            "url": f"https://{{tenant}}.kb.test:{port}/",
            "headers": {"X-Key": "{{KB_KEY}}"},
        },
        "input_schema": {"type": "object", "properties": {"tenant": {"type": "string"}}},
    }
    bench.secrets["KB_KEY"] = "unlimited-key"
    output = await bench.call(await bench.package(package), {"tenant": "evil"})
    assert output.error is not None
    assert output.error.code == "blocked"
    assert "'KB_KEY' is limited to no hosts" in output.text
    assert bench.upstream.connections == 0
    findings = PackageKind(bench.client, bench._secret).check(package)
    assert [f.where for f in findings if "chooses the host" in f.message] == ["config.url"]


async def test_a_chosen_host_without_values_is_judged_by_the_guard_alone(bench: Bench) -> None:
    """Nothing of value goes along."""
    origin = bench.url("/").replace("127.0.0.1", "{host}")
    source = await bench.api({"name": "x", "url": origin})
    await bench.sent(source, {"host": "127.0.0.1"})
