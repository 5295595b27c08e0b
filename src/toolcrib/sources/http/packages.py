"""This module is the front door for packages of type `http`.

A definition is the package itself. Its `{{NAME}}` secrets are looked up for every call, and a call
whose secrets are not all there is refused before anything is sent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from toolcrib.errors import InvalidArguments, InvalidOptions, InvalidToolSchema
from toolcrib.secrets.memory import Kept, Memory
from toolcrib.secrets.placeholders import needs
from toolcrib.sources.http.binding import Bound, CallTimeBinding, SecretLookup
from toolcrib.sources.http.checking import missing_parameter
from toolcrib.sources.http.http_config import HttpConfig, read_config
from toolcrib.sources.http.logins import PackageLogin, login_findings
from toolcrib.sources.http.operation import Draft
from toolcrib.sources.http.package_document import read_package
from toolcrib.sources.http.problems import Problems
from toolcrib.sources.http.rules import PACKAGE
from toolcrib.sources.http.segments import SegmentRules
from toolcrib.sources.http.sending import Sender
from toolcrib.sources.http.source import HttpSource
from toolcrib.sources.http.styles import plain
from toolcrib.sources.http.tool import HttpTool, annotations_of
from toolcrib.sources.http.trials import try_draft
from toolcrib.sources.http.words import is_array, is_object
from toolcrib.sources.oauth.credentials import Credentials
from toolcrib.sources.oauth.wanted import Wanted
from toolcrib.tools.schema import ArgumentChecker
from toolcrib.tools.source import Description, Finding, KindName, Needs
from toolcrib.tools.spec import ToolSpec


class PackageKind:
    """SourceKind of http packages. `secret` is the vault's lookup.

    What was made with secrets stays in `memory`; without one every call makes it anew.
    """

    name: KindName = "package"

    def __init__(
        self,
        sender: Sender,
        secret: SecretLookup,
        memory: Memory | None = None,
        credentials: Credentials | None = None,
    ) -> None:
        self._sender = sender
        self._credentials = credentials
        self._secret = secret
        self._bound: Kept[Bound] = (memory or Memory()).shelf()

    def check(self, definition: Mapping[str, Any]) -> Sequence[Finding]:
        """Everything that is wrong or odd, with paths such as `config.url`."""
        problems = Problems()
        read_package(definition, problems)
        tool = read_http_package(definition, problems)
        if tool is not None and not problems.errors:
            try_draft(tool.draft, tool.needs, PACKAGE.language, self._sender, problems)
        config = definition.get("config")
        return [*problems.findings, *(login_findings(config) if is_object(config) else ())]

    def needs(self, definition: Mapping[str, Any]) -> Needs:
        return Needs(secrets=needs(definition.get("config"), PACKAGE.language))

    def describe(self, definition: Mapping[str, Any]) -> Sequence[Description]:
        """The one tool of a package. Raises InvalidOptions."""
        return (_required(definition).describe(definition),)

    async def open(self, definition: Mapping[str, Any], values: Mapping[str, str]) -> HttpSource:
        """`values` are not used: secrets are looked up for each call. Raises InvalidOptions."""
        tool = _required(definition)
        return HttpSource(
            tool=tool,
            binding=CallTimeBinding(tool, self._secret, self._bound),
            sender=self._sender,
            login=self._login(definition),
        )

    async def wanted(
        self, definition: Mapping[str, Any], *, user_id: int, group_id: int | None
    ) -> Wanted | None:
        """The login that the package needs for somebody; None where it needs none."""
        login = self._login(definition)
        return login and await login.wanted(user_id=user_id, group_id=group_id)

    def _login(self, definition: Mapping[str, Any]) -> PackageLogin | None:
        config = definition.get("config")
        if not is_object(config) or config.get("auth") is None:
            return None
        return PackageLogin(definition, self._secret, self._credentials)


def _required(definition: Mapping[str, Any]) -> HttpTool:
    problems = Problems()
    tool = read_http_package(definition, problems)
    problems.raise_first()
    if tool is None:
        raise InvalidOptions("The package cannot be used.", where="config")
    return tool


def read_http_package(definition: Mapping[str, Any], problems: Problems) -> HttpTool | None:
    """The tool that a package describes; None with problems where it describes none."""
    schema = _input_schema(definition.get("input_schema"), problems)
    names = tuple(schema["properties"])
    config = read_config(definition.get("config"), names, problems)
    if config is None:
        return None
    slug = str(definition.get("slug") or "")
    required = [name for name in config.path_slots if name not in schema["required"]]
    draft = Draft(
        method=config.method,
        url=config.url,
        url_where="config.url",
        segments=SegmentRules(
            required=frozenset(config.url_slots), drops_partial=True, missing=_missing
        ),
        query=tuple(plain(name, name) for name in config.query_fields),
        headers=config.headers,
        body=config.body,
    )
    return HttpTool(
        spec=ToolSpec(
            name=slug,
            description=str(definition.get("description") or ""),
            input_schema={**schema, "required": [*schema["required"], *required]},
            annotations=annotations_of(config.method, str(definition.get("name") or "")),
        ),
        rules=PACKAGE,
        draft=draft,
        code=f"installed__{slug}",
        needs=_used(config, definition),
        timeout=config.timeout,
        sentences={name: missing_parameter(name) for name in config.path_slots},
    )


def _missing(name: str) -> InvalidArguments:
    return InvalidArguments(missing_parameter(name))


def _used(config: HttpConfig, definition: Mapping[str, Any]) -> frozenset[str]:
    """The secrets of what is sent; those of a body that is not sent are not asked for."""
    given = definition.get("config")
    sent = {"url", "headers"} | config.body_keys
    if not is_object(given):
        return frozenset()
    return needs({k: v for k, v in given.items() if k in sent}, PACKAGE.language)


def _input_schema(given: object, problems: Problems) -> dict[str, Any]:
    """The arguments' schema, closed: what it does not declare is refused."""
    empty: dict[str, Any] = {"type": "object", "properties": {}, "required": []}
    where = "input_schema"
    if given is None:
        return {**empty, "additionalProperties": False}
    if not is_object(given):
        problems.error(where, "Must be a JSON Schema object.")
        return empty
    schema = {**empty, **given, "additionalProperties": False}
    if schema["type"] != "object":
        problems.error(f"{where}.type", "Must be 'object': arguments have names.")
        return empty
    if not is_object(schema["properties"]):
        problems.error(f"{where}.properties", "Must be an object of named schemas.")
        return empty
    if not is_array(schema["required"]):
        problems.error(f"{where}.required", "Must be a list of names.")
        return empty
    for name in schema["required"]:
        if name not in schema["properties"]:
            problems.error(f"{where}.required", f"{name!r} is required and not in properties.")
    try:
        ArgumentChecker(schema)
    except InvalidToolSchema as error:
        problems.error(where, error.message)
        return empty
    return schema
