"""This module reads packages of the `mcp_*` types: their config, and the tool they describe."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from toolcrib.errors import InvalidOptions, InvalidToolSchema
from toolcrib.secrets.placeholders import SECRETS
from toolcrib.sources.mcp.addressing import place_of
from toolcrib.sources.oauth.options import findings as auth_findings
from toolcrib.tools.canonical import digest
from toolcrib.tools.provenance import Provenance
from toolcrib.tools.schema import ArgumentChecker
from toolcrib.tools.source import Description, Finding
from toolcrib.tools.spec import Annotations, ToolSpec


def config_of(definition: Mapping[str, Any]) -> Mapping[str, Any]:
    """The package's config, which names a tool. Raises InvalidOptions."""
    config = definition.get("config")
    if not isinstance(config, Mapping):
        raise InvalidOptions("The config is missing: it must be an object.", where="config")
    given = cast("Mapping[str, Any]", config)
    name = given.get("tool_name")
    if not isinstance(name, str) or not name.strip():
        raise InvalidOptions("The tool's name on its server is missing.", where="config.tool_name")
    return given


def is_personal(config: Mapping[str, Any]) -> bool:
    """Whether each person or group logs in to the server, so that nobody else's look tells."""
    auth = config.get("auth")
    grant = cast("Mapping[str, Any]", auth).get("grant") if isinstance(auth, Mapping) else None
    return auth is not None and grant != "client_credentials"


def login_findings(config: Mapping[str, Any], kind: str) -> Sequence[Finding]:
    """What is wrong with `config.auth`, where there is one."""
    auth = config.get("auth")
    if auth is None:
        return ()
    if kind == "mcp_stdio":
        return (Finding(where="config.auth", message="A command is not logged in to."),)
    found = list(auth_findings(auth, where="config.auth", language=SECRETS))
    headers = config.get("headers")
    for name in cast("Mapping[str, Any]", headers) if isinstance(headers, Mapping) else ():
        if name.lower() == "authorization":
            message = "The login of config.auth sets this header: leave one of them out."
            found.append(Finding(where=f"config.headers.{name}", message=message))
    asks = kind != "mcp_server" and config.get("input_schema") is None
    if asks and isinstance(auth, Mapping) and is_personal(config):
        found.append(
            Finding(
                where="config.input_schema",
                message="It is needed where each person logs in: nobody's login asks the server.",
            )
        )
    return found


def schema_of(config: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The arguments that the package declares. Raises InvalidOptions, InvalidToolSchema."""
    schema = config.get("input_schema")
    if schema is None:
        return None
    if not isinstance(schema, Mapping):
        raise InvalidOptions("Must be a JSON Schema object.", where="config.input_schema")
    given = cast("Mapping[str, Any]", schema)
    try:
        ArgumentChecker(given)
    except InvalidToolSchema as error:
        raise InvalidOptions(error.message, where="config.input_schema") from None
    return given


def description_of(
    definition: Mapping[str, Any], schema: Mapping[str, Any], remote: ToolSpec | None
) -> Description:
    """The package's tool; what the package does not say, `remote` says: the tool on its server."""
    slug = str(definition["slug"])
    own = str(definition.get("description") or "")
    title = str(definition.get("name") or "") or None
    annotations = remote.annotations if remote else Annotations()
    endpoint = config_of(definition).get("endpoint")
    spec = ToolSpec(
        name=slug,
        description=own or (remote.description if remote else ""),
        input_schema=schema,
        output_schema=remote.output_schema if remote else None,
        annotations=replace(annotations, title=annotations.title or title),
    )
    upstream = place_of(endpoint) if isinstance(endpoint, str) else None
    facts = {"upstream": upstream, "definition": digest(definition)}
    return Description(spec=spec, upstream=upstream, provenance=Provenance(facts=facts))
