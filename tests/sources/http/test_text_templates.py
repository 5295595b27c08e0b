"""This module sends text templates whose Content-Type does not say, or half says, what they are."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import parse_qsl
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.sources.http.conftest import Bench, headers_of
from toolcrib.errors import InvalidArguments, InvalidOptions, SecretMissing
from toolcrib.secrets.placeholders import SECRETS, SETTINGS, Language
from toolcrib.sources.http.api import ApiKind
from toolcrib.sources.http.packages import PackageKind
from toolcrib.sources.http.raws import charset_of, compile_raw
from toolcrib.sources.http.slots import Values, read_text
from toolcrib.sources.http.trees import compile_tree, read_tree

JSON_TYPES = [
    "",
    "application/json",
    "APPLICATION/JSON; charset=utf-8",
    "text/json",
    "application/vnd.api+json",
    "application/problem+json; v=1",
    "application/x-ndjson",
    "application/ndjson",
    "application/jsonl",
    "text/jsonl",
    "application/x-jsonlines",
    "application/json-seq",
    "application/geo+json-seq",
    "application/x-amz-json-1.1",
    "application/csp-report",
    # A server may not look at these at all.
    "text/plain",
    "text/plain; charset=utf-8",
    "application/octet-stream",
    "x-unknown/x-unknown",
]
BREAKING = ['x","admin":true,"y":"', '"}\n{"admin":true}\n{"x":"', "\\", '\\"', "\u2028{}\u0085"]
values = st.text() | st.sampled_from(BREAKING)


def fill(
    template: str,
    kind: str,
    arguments: dict[str, Any],
    stored: dict[str, str] | None = None,
    language: Language = SETTINGS,
) -> str:
    placed = Values(stored or {}, language).place(read_text(template, language), "options")
    return compile_raw(placed, kind, where="options")(arguments)


@settings(max_examples=400)
@given(st.sampled_from(JSON_TYPES), st.sampled_from(["", " \n\t", "\ufeff"]), values, values)
def test_no_value_adds_a_field_to_json(kind: str, head: str, first: str, second: str) -> None:
    """Whatever the type says: keys and values are the author's and the arguments'."""
    made = fill(f'{head}{{"a":"{{t}}","b":[{{v}}],"c":"-{{t}}"}}', kind, {"t": first, "v": second})
    assert json.loads(made.lstrip("\ufeff")) == {"a": first, "b": [second], "c": f"-{first}"}


@pytest.mark.parametrize("kind", ["application/x-ndjson", "application/jsonl", "text/plain"])
@given(values)
def test_no_value_adds_a_line_of_json(kind: str, text: str) -> None:
    """Each line is one value, also for readers that know more ends of lines than JSON does."""
    made = fill('{"a":"{t}"}\n{"b":"{t}"}\n', kind, {"t": text})
    lines = made.splitlines() if kind != "text/plain" else made.rstrip("\n").split("\n")
    assert [json.loads(line) for line in lines] == [{"a": text}, {"b": text}]


@given(values, values)
def test_a_form_without_its_type_is_a_form(first: str, second: str) -> None:
    """As `curl -d` has it: fields are the author's, values read back."""
    made = fill("To={to}&Body[x]=-{body}&end=1", "", {"to": first, "body": second})
    assert parse_qsl(made, keep_blank_values=True) == [
        ("To", first),
        ("Body[x]", f"-{second}"),
        ("end", "1"),
    ]


@given(st.text(st.characters(min_codepoint=32, exclude_categories=["Cs", "Cn"]), max_size=20))
def test_xml_without_its_type_is_xml(text: str) -> None:
    """No value adds an element or an attribute."""
    if "\ufffe" in text or "\uffff" in text or "\x7f" <= text[:1] <= "\x9f":
        return
    root = ET.fromstring(fill(' <m to="{t}"><t>{t}</t></m>', "", {"t": text}))  # noqa: S314
    assert root.attrib == {"to": text}
    assert [(child.tag, child.text or "") for child in root] == [("t", text)]


@given(values, st.integers())
def test_json_inside_other_texts_keeps_its_members(text: str, number: int) -> None:
    """A field of a form, a string of JSON, a leaf of a template: JSON once more."""
    arguments = {"t": text, "n": number}
    inner = {"text": text, "n": number}
    form = fill('payload={"text":"{t}","n":{n}}&to={t}', FORM, arguments)
    pairs = dict(parse_qsl(form, keep_blank_values=True))
    assert (json.loads(pairs["payload"]), pairs["to"]) == (inner, text)
    encoded = fill("payload=%7B%22text%22%3A%22{t}%22%2C%22n%22:{n}%7D", FORM, arguments)
    assert json.loads(dict(parse_qsl(encoded))["payload"]) == inner
    nested = fill(r'{"Message":"{\"text\":\"{t}\",\"n\":{n}}","t":"{t}"}', "", arguments)
    assert json.loads(json.loads(nested)["Message"]) == inner
    assert json.loads(nested)["t"] == text
    template = {"Message": '{"text":"{t}","n":{n}}', "t": "<{t}>"}
    tree = read_tree(template, lambda part: read_text(part, SETTINGS), "options")
    made = compile_tree(tree, Values({}, SETTINGS))(arguments)
    assert (json.loads(made["Message"]), made["t"]) == (inner, f"<{text}>")


FORM = "application/x-www-form-urlencoded"
HOSTILE = 'a"&b=<1>\n,'


@pytest.mark.parametrize(
    ("template", "kind", "text"),
    [
        ("Hello {t}", "", f"Hello {HOSTILE}"),
        ("{t}", "", HOSTILE),
        ("{t}: {t}", "", f"{HOSTILE}: {HOSTILE}"),
        ("{t}", "text/plain", HOSTILE),
        ("a = {t}", "", f"a = {HOSTILE}"),
        ("<@user> {t}", "", f"<@user> {HOSTILE}"),
        ("[{t}] done", "text/plain", f"[{HOSTILE}] done"),
        ("[{t}]", "text/plain", f"[{HOSTILE}]"),
        ("{ me(id: {t}) { name } }", "application/graphql", f"{{ me(id: {HOSTILE}) {{ name }} }}"),
        ("a={t}&b=1", "text/plain", f"a={HOSTILE}&b=1"),
        ("<t>{t}</t>", "text/plain", f"<t>{HOSTILE}</t>"),
    ],
)
def test_plain_text_is_sent_as_it_is(template: str, kind: str, text: str) -> None:
    """What is none of them keeps its values as they are; text/plain says so on purpose."""
    assert fill(template, kind, {"t": HOSTILE}) == text


@pytest.mark.parametrize(
    ("template", "kind", "body"),
    [
        ('{"a":"{t}"}', "application/json", b'{"a":"x\\"y"}'),
        ("[{t}]", "application/json", b'["x\\"y"]'),
        ("a={t}", "application/x-www-form-urlencoded", b"a=x%22y"),
        ("<a>{t}</a>", "application/xml", b"<a>x&quot;y</a>"),
        ("a {t}", "text/plain; charset=utf-8", b'a x"y'),
    ],
)
async def test_both_doors_send_and_warn_alike(
    bench: Bench, template: str, kind: str, body: bytes
) -> None:
    """The type that was found is the one that is sent, and its author is told once."""
    api: dict[str, Any] = {"name": "x", "method": "POST", "url": bench.url("/m")}
    api["body_template"] = template
    config = {"url": bench.url("/m"), "method": "POST", "body_template": template}
    schema = {"type": "object", "properties": {"t": {"type": "string"}}}
    package = {"slug": "x", "name": "x", "type": "http", "config": config, "input_schema": schema}
    for source in (await bench.api(api), await bench.package(package)):
        request = await bench.sent(source, {"t": 'x"y'})
        assert (request.body, headers_of(request)) == (body, {"Content-Type": kind})
        preview = (await source.preview("x", {"t": 'x"y'})).request
        assert preview["headers"]["Content-Type"] == kind

    how = "not escaped" if kind.startswith("text") else "escaped for that"
    said = (
        f"Without a Content-Type header it is sent as {kind.partition(';')[0]}: values are {how}."
    )
    capability = ApiKind(bench.client).check({"code": "x", "name": "x", "options": api})
    installed = PackageKind(bench.client, bench._secret).check(package)
    assert [f.message for f in capability if f.where == "options.body_template"] == [said]
    assert [f.message for f in installed if f.where == "config.body_template"] == [said]


async def test_both_doors_warn_of_a_type_that_escapes_nothing(bench: Bench) -> None:
    """At the header that says so; not where the template is JSON all the same."""
    headers = {"Content-Type": "text/csv"}
    for template, count in (("a;{t}", 1), ('{"a":"{t}"}', 0)):
        api = {"method": "POST", "url": bench.url("/"), "headers": headers}
        definition = {"code": "x", "name": "x", "options": {**api, "body_template": template}}
        package = {
            "slug": "x",
            "name": "x",
            "type": "http",
            "config": {**api, "body_template": template},
            "input_schema": {"type": "object", "properties": {"t": {"type": "string"}}},
        }
        said = "In a body of type 'text/csv' values are not escaped."
        found = [
            *ApiKind(bench.client).check(definition),
            *PackageKind(bench.client, bench._secret).check(package),
        ]
        assert [f.where for f in found if f.message == said] == [
            "options.headers.Content-Type",
            "config.headers.Content-Type",
        ][: 2 * count]


def test_a_stored_beginning_counts_as_well() -> None:
    """Where a secret holds the beginning of the JSON, arguments are still escaped."""
    assert fill("{{ALL}}", "", {}, {"ALL": '{"a":1}'}, SECRETS) == '{"a":1}'
    template = '{"k":"{{KEY}}","n":{{N}},"t":"{t}"}'
    made = fill(template, "", {"t": '"'}, {"KEY": '"', "N": "5"}, SECRETS)
    assert json.loads(made) == {"k": '"', "n": 5, "t": '"'}


def in_strings(levels: int) -> str:
    """A template inside so many strings of JSON."""
    template = '{"text":"{t}","n":{n}}'
    for _ in range(levels):
        template = json.dumps({"in": template})
    return template


def out_of_strings(text: str, levels: int) -> Any:
    for _ in range(levels):
        text = json.loads(text)["in"]
    return json.loads(text)


@pytest.mark.parametrize("levels", [0, 1, 2, 3, 4])
@given(values, st.integers())
def test_json_in_strings_of_json_keeps_its_members_at_any_depth(
    levels: int, text: str, number: int
) -> None:
    """As push services have it: a message is JSON, in it a payload for each system, as JSON."""
    arguments = {"t": text, "n": number}
    inner = {"text": text, "n": number}
    template = in_strings(levels)

    assert out_of_strings(fill(template, "application/json", arguments), levels) == inner
    form = fill(f"Message={template}&x=1", FORM, arguments)
    assert out_of_strings(dict(parse_qsl(form))["Message"], levels) == inner
    tree = read_tree({"m": template}, lambda part: read_text(part, SETTINGS), "options")
    made = compile_tree(tree, Values({}, SETTINGS))(arguments)
    assert out_of_strings(made["m"], levels) == inner


@pytest.mark.parametrize(
    "template",
    [
        "{'a': '{t}'}",
        '{"a": "{t}", \'b\': 1}',
        '{/* " */ "a": "{t}"}',
        '{"a": "{t}"} // "',
        '{"a": "x", \\"b": "{t}"}',
        '{ user(name: "{t}") { id } }',
    ],
)
@pytest.mark.parametrize("kind", ["application/json", "application/json5", ""])
def test_json_that_lenient_readers_read_otherwise_is_refused(template: str, kind: str) -> None:
    """Other quotes and comments move the place where a string ends: a value could leave it."""
    with pytest.raises(InvalidOptions, match="outside of a string"):
        fill(template, kind, {"t": "x"})


def test_json_without_holes_is_the_authors_own() -> None:
    """Nothing can leave a place that nothing is put in."""
    assert fill("{'a': 1} // all", "application/json5", {}) == "{'a': 1} // all"


@given(st.text(st.characters(min_codepoint=32, max_codepoint=0xD7FF)) | st.just("]]><a/>]]"))
def test_cdata_holds_the_text_as_it_is(text: str) -> None:
    """A document inside a document, as old services want it."""
    if any("\x7f" <= char <= "\x9f" for char in text):
        return
    template = "<m><t><![CDATA[]]{t}]]></t><u>{t}</u></m>"
    root = ET.fromstring(fill(template, "text/xml", {"t": text}))  # noqa: S314
    assert [(child.tag, child.text or "") for child in root] == [("t", f"]]{text}"), ("u", text)]


@pytest.mark.parametrize(
    "template",
    ["<a id={t}/>", "<a {t}='1'/>", "<{t}>x</a>", "</{t}>", "<a b='{t}' c={t}/>", "<!DOCTYPE {t}>"],
)
def test_in_a_tag_only_a_word_may_stand(template: str) -> None:
    """Without quotes a blank would begin another attribute."""
    assert fill(template, "text/html", {"t": "n-1"}) == template.replace("{t}", "n-1")
    for text in ("1 admin=true", "", "a/><b", "a\tb", "é"):
        with pytest.raises(InvalidArguments, match="outside of quotes"):
            fill(template, "text/html", {"t": text})


@pytest.mark.parametrize(
    "template", ["1 < 2 {t}", "<!-- ' -->{t}", "<?x '?>{t}", "<a b='>\">'>{t}</a>", "<a>'{t}"]
)
def test_what_only_looks_like_a_tag_is_text(template: str) -> None:
    """Comments, instructions and quotes are read to their ends."""
    assert fill(template, "text/html", {"t": "a <b>"}) == template.replace("{t}", "a &lt;b&gt;")


@pytest.mark.parametrize("charset", ["unicode_escape", "raw_unicode_escape", "punycode", "idna"])
def test_a_codec_of_python_is_no_charset(charset: str) -> None:
    """Its escapes would meet those of JSON."""
    assert charset_of(f"application/json; charset={charset}") == "utf-8"


async def no_secret(name: str) -> str:
    raise SecretMissing(name)


@pytest.mark.parametrize(
    ("text", "warned"),
    [
        ('{ user(name: "{t}") { id } }', True),
        ("SELECT * FROM t WHERE a = '{t}'", True),
        ('<m to="{t}"/>', True),
        ("f('{t}')", True),
        ("query($n: String){ user(name: $n) { id } }", False),
        ('{"text": "{t}"}', False),
        ('Hello "{t}"', False),
        ("{t}", False),
    ],
)
async def test_both_doors_warn_of_a_value_between_quotes(
    bench: Bench, text: str, warned: bool
) -> None:
    """A query in a text of JSON is its author's to guard: with variables."""
    template = {"query": [text], "variables": {"t": "{t}"}}
    package = {
        "slug": "x",
        "name": "X",
        "type": "http",
        "config": {"url": "https://x.example", "method": "POST", "body_template": template},
        "input_schema": {"type": "object", "properties": {"t": {"type": "string"}}},
    }
    options = {"url": "https://x.example", "method": "POST", "body_template": template}
    row = {"code": "x", "name": "X", "description": "", "options": options}

    found = PackageKind(bench.client, no_secret).check(package)
    assert [f.where for f in found if "between quotes" in f.message] == (
        ["config.body_template.query[0]"] if warned else []
    )
    found = ApiKind(bench.client).check(row)
    assert [f.where for f in found if "between quotes" in f.message] == (
        ["options.body_template.query[0]"] if warned else []
    )
