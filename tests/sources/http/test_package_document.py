"""This module reads packages that are odd, wrong, or not packages at all."""

from __future__ import annotations

from typing import Any

import pytest

from tests.sources.http.conftest import Bench
from toolcrib.errors import InvalidOptions
from toolcrib.sources.http.package_document import read_package
from toolcrib.sources.http.packages import PackageKind
from toolcrib.tools.source import Finding


def package(**fields: Any) -> dict[str, Any]:
    """A good package, changed."""
    return {
        "slug": "kb_search",
        "name": "KB",
        "type": "http",
        "config": {"url": "{{KB_URL}}"},
        **fields,
    }


def config(**keys: Any) -> dict[str, Any]:
    return package(config={"url": "https://api.test/x", **keys})


async def check(bench: Bench, document: dict[str, Any]) -> list[Finding]:
    async def no_secret(name: str) -> str:
        raise AssertionError(name)

    return list(PackageKind(bench.client, no_secret).check(document))


def test_a_good_package_is_kept_as_it_is() -> None:
    """Supported fields stay, with the defaults of those that are missing."""
    reading = read_package(package(category="search", input_schema={"type": "object"}))
    assert reading.package == {
        "slug": "kb_search",
        "name": "KB",
        "type": "http",
        "config": {"url": "{{KB_URL}}"},
        "input_schema": {"type": "object"},
        "category": "search",
        "description": "",
        "version": "1.0.0",
    }
    assert (reading.ignored_fields, list(reading.findings), reading.refused) == ((), [], [])


def test_unknown_fields_are_dropped_and_named() -> None:
    """Extra metadata has no effect and is not stored."""
    reading = read_package(package(permissions=["all"], code="import os"))
    assert reading.ignored_fields == ("permissions", "code")
    assert "permissions" not in reading.package


@pytest.mark.parametrize(
    ("fields", "where"),
    [
        ({"slug": "Bad-Slug"}, "slug"),
        ({"slug": ""}, "slug"),
        ({"slug": 5}, "slug"),
        ({"slug": "1x"}, "slug"),
        ({"slug": "x" * 54}, "slug"),
        ({"slug": "é"}, "slug"),
        ({"slug": "x\n"}, "slug"),
        ({"type": "docker"}, "type"),
        ({"type": None}, "type"),
    ],
)
def test_slug_and_type_keep_a_package_out(fields: dict[str, Any], where: str) -> None:
    """These two are refusals; everything else is for the author."""
    assert [finding.where for finding in read_package(package(**fields)).refused] == [where]


@pytest.mark.parametrize("document", [None, [], "x", 5])
def test_what_is_no_object_is_refused(document: object) -> None:
    """A package is a JSON object."""
    assert [finding.where for finding in read_package(document).refused] == [""]


@pytest.mark.parametrize(
    ("document", "where"),
    [
        (package(name=" "), "name"),
        (package(version=2), "version"),
        (package(config=None), "config"),
        (package(config={}), "config.url"),
        (config(method="TRACE"), "config.method"),
        (config(timeout=0), "config.timeout"),
        (config(timeout=121), "config.timeout"),
        (config(timeout=True), "config.timeout"),
        (config(timeout="20"), "config.timeout"),
        (config(headers=["X"]), "config.headers"),
        (config(headers={"X Y": "1"}), "config.headers.X Y"),
        (config(method="POST", static_body=[1]), "config.static_body"),
        (config(method="POST", body_template=5), "config.body_template"),
        (config(url="https://api.test/{id}"), "config.url"),
        (package(input_schema=[]), "input_schema"),
        (package(input_schema={"type": "array"}), "input_schema.type"),
        (package(input_schema={"properties": []}), "input_schema.properties"),
        (package(input_schema={"required": ["q"]}), "input_schema.required"),
        (
            package(input_schema={"properties": {"q": {"type": "strin"}}}),
            "input_schema",
        ),
    ],
)
async def test_other_faults_are_findings_with_their_place(
    bench: Bench, document: dict[str, Any], where: str
) -> None:
    """The author reads the place; opening such a package fails instead of guessing."""
    findings = await check(bench, document)
    assert where in [finding.where for finding in findings if finding.severity == "error"]
    if where.startswith(("config", "input_schema")):
        with pytest.raises(InvalidOptions):
            await bench.package(document)


@pytest.mark.parametrize(
    ("document", "where", "words"),
    [
        (config(method="POST"), "config.method", "writes"),
        (config(method="DELETE"), "config.method", "writes"),
        (config(retries=3), "config.retries", "no effect"),
        (config(headers={"X-API-Key": "sk-123"}), "config.headers.X-API-Key", "store it"),
        (config(url="https://api.test/{{kb_url}}"), "config.url", "not the name of a secret"),
        (config(headers={"A": "${KEY}"}), "config.headers.A", "{{KEY}}"),
        (config(static_body={"a": 1}), "config.static_body", "Not sent"),
        (config(url="http://api.test"), "config.url", "TOOLCRIB_EGRESS_ALLOW"),
        (
            config(url="https://10.0.0.5:8443/x"),
            "config.url",
            "TOOLCRIB_EGRESS_ALLOW=10.0.0.5:8443",
        ),
        (package(description="needs {{KB_KEY}}"), "description", "only config has secrets"),
        (
            config(method="POST", body_template={"a": ["{typo}"]}),
            "config.body_template",
            "{typo} is not in input_schema.properties",
        ),
        (
            config(method="POST", body_template="a={typo}"),
            "config.body_template",
            "{typo} is not in input_schema.properties",
        ),
    ],
)
async def test_what_is_odd_is_a_warning(
    bench: Bench, document: dict[str, Any], where: str, words: str
) -> None:
    """It is said in words, and the package works."""
    findings = await check(bench, document)
    assert [finding for finding in findings if finding.severity == "error"] == []
    assert any(finding.where == where and words in finding.message for finding in findings)


async def test_a_get_package_has_no_warning(bench: Bench) -> None:
    """Reading is what a tool may do without a word."""
    assert await check(bench, package()) == []


async def test_an_argument_that_goes_nowhere_is_said(bench: Bench) -> None:
    """A template that forgets a declared argument would drop it silently."""
    document = config(method="POST", body_template={"a": "{a}"})
    document["input_schema"] = {"properties": {"a": {}, "b": {}}}
    findings = await check(bench, document)
    assert [f.where for f in findings] == ["config.method", "input_schema.properties.b"]


@pytest.mark.parametrize(
    ("kind", "keys", "errors"),
    [
        ("mcp_server", {"endpoint": "{{U}}", "tool_name": "search", "input_schema": {}}, []),
        ("mcp_server", {"endpoint": "{{U}}"}, ["config.tool_name"]),
        ("mcp_sse", {}, ["config.endpoint", "config.tool_name"]),
        ("mcp_stdio", {"command": "server", "tool_name": "x", "args": [], "env": {}}, []),
        ("mcp_stdio", {"tool_name": "x"}, ["config.command"]),
    ],
)
def test_mcp_packages_are_read_by_the_same_reader(
    kind: str, keys: dict[str, Any], errors: list[str]
) -> None:
    """What every type needs in its config is one table."""
    findings = read_package(package(type=kind, config=keys)).findings
    assert [finding.where for finding in findings if finding.severity == "error"] == errors
    assert any(finding.message.startswith("writes: ") for finding in findings)


def test_an_mcp_package_takes_no_schema_from_the_top_level() -> None:
    """The author is told which schema counts, and what happens without one."""
    keys = {"endpoint": "{{U}}", "tool_name": "search"}
    reading = read_package(package(type="mcp_server", config=keys, input_schema={"type": "object"}))
    assert [finding.where for finding in reading.findings] == [
        "type",
        "input_schema",
        "config.input_schema",
    ]


def test_a_config_nested_without_end_is_a_finding() -> None:
    """Nothing that a person sends ends in a stack trace."""
    deep: object = "x"
    for _ in range(5000):
        deep = [deep]
    reading = read_package(package(config={"url": "https://api.test", "static_body": {"a": deep}}))
    assert any("Nested deeper" in finding.message for finding in reading.findings)


async def test_undeclared_braces_of_a_body_are_text(bench: Bench) -> None:
    """Only declared arguments are slots; other braces are sent as they are written."""
    document = config(url=bench.url("/x"), method="POST", body_template={"a": "{a}", "b": "{b}"})
    document["input_schema"] = {"properties": {"a": {"type": "number"}}}
    request = await bench.sent(await bench.package(document), {"a": 1.5})
    assert request.body == b'{"a":1.5,"b":"{b}"}'


async def test_names_that_are_no_identifiers_are_slots_too(bench: Bench) -> None:
    """A package declares its names, so any of them may stand in braces."""
    document = config(url=bench.url("/u/{user-id}"))
    document["input_schema"] = {"properties": {"user-id": {"type": "string"}}}
    source = await bench.package(document)
    assert (await bench.sent(source, {"user-id": "a/b"})).target == "/u/a%2Fb"
    output = await bench.call(source, {})
    assert output.text == "API request failed: missing required path parameter 'user-id'"


async def test_secrets_of_what_is_not_sent_are_not_needed(bench: Bench) -> None:
    """A GET has no body, so the secrets of its static body do not stop it."""
    document = config(url=bench.url("/x"), static_body={"k": "{{NOT_THERE}}"})
    assert (await bench.sent(await bench.package(document), {})).target == "/x"


async def test_a_place_that_the_operator_allows_needs_no_word(bench: Bench) -> None:
    """The warning is about this installation: what may be reached is not warned about."""
    assert await check(bench, config(url=bench.url("/x"))) == []
