"""This module reads a tool package: the fields that every type has, and what will be ignored.

Supported fields are kept, everything else is named in `ignored_fields` and has no effect. Only a
bad `slug` or `type` keeps a package out (`refused`); the other findings are for its author.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from toolcrib.errors import InvalidOptions
from toolcrib.secrets.placeholders import PLACEHOLDER_RE, SECRETS, map_text, needs
from toolcrib.sources.http.package_credentials import find_credentials
from toolcrib.sources.http.problems import Problems
from toolcrib.sources.http.tool import READ_ONLY
from toolcrib.sources.http.words import is_object
from toolcrib.tools.source import Finding

SLUG: Final = re.compile(r"[a-z][a-z0-9_]{0,52}", re.ASCII)
TYPES: Final = ("http", "mcp_server", "mcp_sse", "mcp_streamable_http", "mcp_stdio")
FIELDS: Final = (
    "slug",
    "name",
    "type",
    "description",
    "version",
    "config",
    "input_schema",
    "category",
    "icon",
    "author",
)
_TEXTS = ("name", "description", "version", "category", "icon", "author")
_ENDPOINT = frozenset({"endpoint", "tool_name", "input_schema", "headers", "timeout", "auth"})
CONFIG_KEYS: Mapping[str, tuple[tuple[str, ...], frozenset[str]]] = {
    "http": (
        ("url",),
        frozenset({"url", "method", "headers", "timeout", "static_body", "body_template", "auth"}),
    ),
    "mcp_server": (("endpoint", "tool_name"), _ENDPOINT),
    "mcp_sse": (("endpoint", "tool_name"), _ENDPOINT),
    "mcp_streamable_http": (("endpoint", "tool_name"), _ENDPOINT),
    "mcp_stdio": (
        ("command", "tool_name"),
        frozenset({"command", "args", "env", "tool_name", "input_schema", "timeout"}),
    ),
}
"""By type: the keys of `config` that it cannot do without, and all that it knows."""

_BRACES = re.compile(r"\{\{([^{}]*)\}\}")


@dataclass(frozen=True, kw_only=True, slots=True)
class PackageReading:
    """A package as it would be kept, with what was left out of it and what is odd."""

    package: Mapping[str, Any]
    ignored_fields: tuple[str, ...]
    findings: Sequence[Finding]

    @property
    def refused(self) -> list[Finding]:
        """What keeps the package from being installed."""
        return [f for f in self.findings if f.severity == "error" and f.where in _HARD]


_HARD = frozenset({"slug", "type", ""})


def read_package(document: object, problems: Problems | None = None) -> PackageReading:
    """Read what a person wrote. Never raises: what is wrong stands in the findings."""
    problems = problems or Problems()
    if not is_object(document):
        problems.error("", "A package must be a JSON object.")
        return PackageReading(package={}, ignored_fields=(), findings=problems.findings)
    package = {key: document[key] for key in FIELDS if key in document}
    _check_identity(package, problems)
    _check_texts(package, problems)
    config = package.get("config")
    if not is_object(config):
        problems.error("config", "The config is missing: it must be an object.")
    else:
        _check_config(str(package.get("type")), config, problems)
        _check_placeholders(config, problems)
        _warn_of_writes(str(package.get("type")), config, problems)
        _warn_of_schemas(package, config, problems)
    problems.findings += find_credentials(package)
    _warn_of_idle_secrets(package, problems)
    package.setdefault("description", "")
    package.setdefault("version", "1.0.0")
    return PackageReading(
        package=package,
        ignored_fields=tuple(key for key in document if key not in FIELDS),
        findings=problems.findings,
    )


def _check_identity(package: Mapping[str, Any], problems: Problems) -> None:
    slug, kind = package.get("slug"), package.get("type")
    if not isinstance(slug, str) or not SLUG.fullmatch(slug):
        problems.error(
            "slug",
            f"{slug!r} cannot be a slug: it starts with a-z and holds a-z, 0-9 and underscores, "
            "at most 53 characters.",
        )
    if kind not in TYPES:
        problems.error("type", f"{kind!r} is not a type: use one of {', '.join(TYPES)}.")


def _check_texts(package: Mapping[str, Any], problems: Problems) -> None:
    for key in _TEXTS:
        if key in package and not isinstance(package[key], str):
            problems.error(key, f"{key!r} must be text.")
    name = package.get("name", "")
    if isinstance(name, str) and not name.strip():
        problems.error("name", "The name is missing.")


def _check_config(kind: str, config: Mapping[str, Any], problems: Problems) -> None:
    required, known = CONFIG_KEYS.get(kind, ((), frozenset(config)))
    for key in required:
        value = config.get(key)
        if not isinstance(value, str) or not value.strip():
            problems.error(f"config.{key}", f"A package of type {kind!r} needs {key!r} as text.")
    for key in config:
        if key not in known:
            problems.warn(f"config.{key}", f"{key!r} is not known for {kind!r} and has no effect.")


def _check_placeholders(config: Mapping[str, Any], problems: Problems) -> None:
    """Braces that look like a secret's name and are none."""

    def look(text: str, where: str) -> str:
        for match in _BRACES.finditer(text):
            if not SECRETS.pattern.fullmatch(match[0]):
                problems.warn(
                    where, f"{match[0]!r} is not the name of a secret and stays as it is written."
                )
        for name in PLACEHOLDER_RE.findall(text):
            problems.warn(where, f"Packages have no settings: write {{{{{name}}}}} for a secret.")
        return text

    try:
        map_text(config, look, "config")
    except InvalidOptions as error:
        problems.caught(error, "config")


def _warn_of_idle_secrets(package: Mapping[str, Any], problems: Problems) -> None:
    """Secrets' names outside of the config, where nothing fills them."""
    for key, value in package.items():
        for name in sorted(needs(value, SECRETS)) if key != "config" else ():
            problems.warn(key, f"{{{{{name}}}}} stays as it is written: only config has secrets.")


def _warn_of_writes(kind: str, config: Mapping[str, Any], problems: Problems) -> None:
    """Whoever installs a tool that may change something should know it."""
    if kind.startswith("mcp_"):
        problems.warn(
            "type", "writes: only its server can say that the tool changes nothing (readOnlyHint)."
        )
    elif kind == "http":
        method = str(config.get("method") or "GET").strip().upper()
        if method not in READ_ONLY:
            problems.warn("config.method", f"writes: {method} may change something upstream.")


def _warn_of_schemas(
    package: Mapping[str, Any], config: Mapping[str, Any], problems: Problems
) -> None:
    """An MCP tool takes its schema from its config or its server, never from the top level."""
    kind = str(package.get("type"))
    if not kind.startswith("mcp_"):
        return
    given = config.get("input_schema")
    if given is not None and not is_object(given):
        problems.error("config.input_schema", "Must be a JSON Schema object.")
    if package.get("input_schema") is not None:
        problems.warn("input_schema", "Has no effect here: an MCP tool's is config.input_schema.")
    if kind == "mcp_server" and given is None:
        problems.warn("config.input_schema", "Missing: the tool is offered without arguments.")
