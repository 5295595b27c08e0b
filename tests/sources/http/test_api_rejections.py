"""This module builds API capabilities that cannot be built, and reads where it goes wrong."""

from __future__ import annotations

from typing import Any

import pytest

from tests.sources.http.conftest import Bench
from toolcrib.errors import InvalidOptions
from toolcrib.sources.http.api import ApiKind, slug_of
from toolcrib.tools.source import Finding

URL = "https://api.test/x"


def check(bench: Bench, options: object, **row: Any) -> list[Finding]:
    """The findings about a capability with these options."""
    definition = {"code": "x", "name": "Some Thing", "options": options, **row}
    return list(ApiKind(bench.client).check(definition))


def errors(findings: list[Finding]) -> list[str]:
    return [finding.where for finding in findings if finding.severity == "error"]


def warnings(findings: list[Finding]) -> list[str]:
    return [finding.where for finding in findings if finding.severity == "warning"]


REJECTED: list[tuple[Any, list[str]]] = [
    (None, ["options"]),
    ([], ["options"]),
    ({}, ["options.url"]),
    ({"url": "  "}, ["options.url"]),
    ({"url": 5}, ["options.url"]),
    ({"url": "ftp://api.test"}, ["options.url"]),
    ({"url": "api.test/x"}, ["options.url"]),
    ({"url": URL, "method": "DELETE"}, ["options.method"]),
    ({"url": URL, "method": "HEAD"}, ["options.method"]),
    ({"url": URL, "method": 1}, ["options.method"]),
    ({"url": URL, "name": "get-weather"}, ["options.name"]),
    ({"url": URL, "name": 5}, ["options.name"]),
    ({"url": URL, "params": []}, ["options.params"]),
    ({"url": URL, "params": {"q": "string"}}, ["options.params.q"]),
    ({"url": URL, "params": {"q": {"required": "yes"}}}, ["options.params.q.required"]),
    ({"url": URL, "params": {"q": {"default": {}}}}, ["options.params.q.default"]),
    ({"url": URL, "headers": "X: 1"}, ["options.headers"]),
    ({"url": URL, "headers": {"Bad Name": "1"}}, ["options.headers.Bad Name"]),
    ({"url": URL, "headers": {"X": "a\nb"}}, ["options.headers.X"]),
    ({"url": URL, "headers": {"X": ["1"]}}, ["options.headers.X"]),
    ({"url": URL, "headers": {"Host": "a"}}, ["options.headers.Host"]),
    ({"url": URL, "headers": {"content-length": "1"}}, ["options.headers.content-length"]),
    ({"url": URL, "headers": {"X-A": "1", "x-a": "2"}}, ["options.headers.x-a"]),
    ({"url": URL, "path_params": {"id": {}}}, ["options.path_params.id"]),
    (
        {"url": URL, "body_template": {"a": "{x}"}, "body_params": {"x": {}, "y": {}}},
        ["options.body_params.y"],
    ),
    ({"url": URL, "body_params": {"x": {}}}, ["options.body_params"]),
    ({"url": URL, "body": {"a": {}}, "body_template": {"b": 1}}, ["options.body"]),
    ({"url": URL, "files": {"f": {}}, "body_template": "x"}, ["options.files"]),
    ({"url": URL, "body_template": 5}, ["options.body_template"]),
    ({"url": URL, "params": {"a": {}}, "body": {"a": {}}}, ["options.body.a"]),
    ({"url": URL, "params": {"a": {}}, "files": {"a": {}}}, ["options.files.a"]),
    (
        {"url": URL + "/{a}", "path_params": {"a": {}}, "params": {"a": {}}},
        ["options.params.a"],
    ),
    (
        {
            "url": URL + "/{a}",
            "path_params": {"a": {}},
            "body_params": {"a": {}},
            "body_template": {"x": "{a}"},
        },
        ["options.body_params.a"],
    ),
    ({"url": URL + "/{a}", "params": {"a": {}}}, ["options.params.a"]),
    ({"url": URL + "/{a}", "body": {"a": {}}}, ["options.body.a"]),
    ({"url": URL + "/{a}", "files": {"a": {}}}, ["options.files.a"]),
    ({"url": URL, "body_template": {"k": "{a}"}, "params": {"a": {}}}, ["options.params.a"]),
    ({"url": URL, "params": 5, "params.a.type": "string"}, ["options.params"]),
    ({"url": URL, "params..a": {}}, ["options.params..a"]),
    (
        {
            "url": URL,
            "body_template": '{"a":"\\{x}"}',
            "headers": {"Content-Type": "application/json"},
        },
        ["options.body_template"],
    ),
    ({"url": "https://api{x}.test/"}, ["options.url"]),
]


@pytest.mark.parametrize(("options", "where"), REJECTED, ids=lambda value: str(value)[:60])
async def test_what_cannot_be_built_is_rejected_with_its_place(
    bench: Bench, options: Any, where: list[str]
) -> None:
    """Each rejection of the format names its place inside the options, and opening it fails."""
    assert errors(check(bench, options)) == where
    if options is not None and where != ["options.url"]:
        with pytest.raises(InvalidOptions) as caught:
            await ApiKind(bench.client).open({"name": "Thing", "options": options}, {})
        assert caught.value.where == where[0]


async def test_every_problem_is_reported_at_once(bench: Bench) -> None:
    """An author mends a definition in one round."""
    options = {"url": URL, "method": "PURGE", "headers": {"Host": "x"}, "path_params": {"id": {}}}
    assert errors(check(bench, options)) == [
        "options.method",
        "options.headers.Host",
        "options.path_params.id",
    ]
    with pytest.raises(InvalidOptions, match=r"\(2 more\)"):
        await bench.api(options)


async def test_one_slot_may_fill_two_places(bench: Bench) -> None:
    """The same name in url and body_template is one argument."""
    source = await bench.api(
        {
            "name": "x",
            "method": "PUT",
            "url": bench.url("/things/{id}"),
            "path_params": {"id": {"type": "integer", "required": True}},
            "body_template": {"id": "{id}", "label": "thing {id}"},
        }
    )
    assert list(source.tool.spec.input_schema["properties"]) == ["id"]
    request = await bench.sent(source, {"id": 7})
    assert (request.target, request.body) == ("/things/7", b'{"id":7,"label":"thing 7"}')


async def test_odd_things_are_warnings(bench: Bench) -> None:
    """They are said, and the tool works."""
    options = {
        "url": "http://api.test",
        "method": "post",
        "timeout": 5,
        "params": {"q": {"type": "text", "enum": ["a"]}},
        "headers": {"Content-Type": "text/csv"},
        "body_template": "a;{b}",
    }
    findings = check(bench, options)
    assert errors(findings) == []
    assert warnings(findings) == [
        "options.timeout",
        "options.headers.Content-Type",
        "options.params.q.enum",
        "options.params.q.type",
        "options.url",
    ]
    upload = {"url": URL, "files": {"f": {}}, "headers": {"Content-Type": "x/y", "A": "b"}}
    assert warnings(check(bench, upload)) == ["options.headers.Content-Type"]
    source = await bench.api({**upload, "method": "POST"})
    assert [header.name for header in source.tool.draft.headers] == ["A"]


@pytest.mark.parametrize(
    "url",
    ["${BASE}/x", "${SCHEME}://api.test", "https://${HOST}/x", "https://a.test:${PORT}", "${URL}"],
)
async def test_a_url_with_placeholders_is_no_problem_in_itself(bench: Bench, url: str) -> None:
    """What stored values may hold is not known yet."""
    assert check(bench, {"url": url}) == []


async def test_dotted_keys_are_nested_objects(bench: Bench) -> None:
    """They merge with what is nested already; keys that are nested keep their dots."""
    source = await bench.api(
        {
            "name": "x",
            "method": "POST",
            "url": bench.url("/x"),
            "params.location.type": "string",
            "params.location.required": True,
            "params": {"units": {"type": "string"}, "geo.lat": {"type": "number"}},
            "headers.X-Api.Version": "2",
            "headers": {"X.Y": "1"},
            "body_template.message.text": "{text}",
            "body_template": {"message": {"k.l": 1}},
        }
    )
    assert list(source.tool.spec.input_schema["properties"]) == [
        "units",
        "geo.lat",
        "location",
        "text",
    ]
    request = await bench.sent(source, {"location": "x", "geo.lat": 1.5, "text": "t"})
    assert request.target == "/x?geo.lat=1.5&location=x"
    assert request.body == b'{"message":{"k.l":1,"text":"t"}}'
    assert (request.header("X-Api.Version"), request.header("X.Y")) == ("2", "1")


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("Open-Meteo Weather", "open_meteo_weather"),
        ("  Get   Things!! ", "get_things"),
        ("3D Print", "_3d_print"),
        ("Überprüfung", "berpr_fung"),
        ("x" * 80, "x" * 63),
    ],
)
async def test_the_capability_gives_the_tool_its_name(bench: Bench, name: str, slug: str) -> None:
    """Without a name in the options, the slug of the capability's name."""
    assert slug_of(name) == slug
    source = await bench.api({"url": bench.url("/")}, name=name)
    spec = source.tool.spec
    assert (spec.name, spec.description) == (slug, f"Call the {slug} API")


async def test_without_any_name_the_build_fails(bench: Bench) -> None:
    """A name has to come from somewhere."""
    assert errors(check(bench, {"url": URL}, name="日本")) == ["options.name"]


async def test_the_description_falls_back_to_the_capability(bench: Bench) -> None:
    """The options' own first, then the capability's."""
    definition = {"name": "X", "description": "Of the row.", "options": {"url": bench.url("/")}}
    source = await ApiKind(bench.client).open(definition, {})
    assert source.tool.spec.description == "Of the row."
    definition["options"] = {"url": bench.url("/"), "description": " Its own. "}
    source = await ApiKind(bench.client).open(definition, {})
    assert source.tool.spec.description == "Its own."
