"""This module checks the options of an MCP capability before they are stored."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from toolcrib.errors import InvalidOptions
from toolcrib.secrets.placeholders import PLACEHOLDER_RE, needs
from toolcrib.sources.oauth.options import findings as auth_findings
from toolcrib.tools.dotted import expand_dotted
from toolcrib.tools.source import Finding

_APPROVALS = ("never", "always")


class McpOptions:
    """Reads definitions of type mcp. Keys it does not know go to the vendor unchanged."""

    def check(self, definition: Mapping[str, Any]) -> Sequence[Finding]:
        """Everything that is wrong, with paths such as `options.server_url`."""
        options = definition.get("options")
        if not isinstance(options, Mapping):
            return [Finding(where="options", message="The options must be an object.")]
        try:
            needs(options)
            given = expand_dotted(cast("Mapping[str, Any]", options))
        except InvalidOptions as error:
            return [Finding(where=error.where or "options", message=error.message)]
        return list(_findings(given))


def _findings(options: Mapping[str, Any]) -> Iterator[Finding]:
    for key in ("server_label", "server_url"):
        value = options.get(key)
        if not isinstance(value, str) or not value.strip():
            yield Finding(where=f"options.{key}", message=f"{key!r} is missing: it must be text.")
    yield from _url(options.get("server_url"))
    yield from _approval(options.get("require_approval"))
    yield from _headers(options.get("headers"))
    if options.get("auth") is not None:
        yield from auth_findings(options["auth"], where="options.auth")
        yield from _one_authorization(options.get("headers"))


def _url(url: object) -> Iterator[Finding]:
    if not isinstance(url, str) or PLACEHOLDER_RE.search(url) or not url.strip():
        return
    if not url.strip().lower().startswith(("https://", "http://")):
        yield Finding(
            where="options.server_url", message=f"{url!r} is not an http or https address."
        )


def _approval(value: object) -> Iterator[Finding]:
    if value is None or isinstance(value, Mapping):
        return
    if isinstance(value, str) and (value.strip() in _APPROVALS or PLACEHOLDER_RE.search(value)):
        return
    yield Finding(
        where="options.require_approval",
        message=f"{value!r} is not 'never', 'always' or an approval policy.",
    )


def _headers(headers: object) -> Iterator[Finding]:
    if headers is None:
        return
    if not isinstance(headers, Mapping):
        yield Finding(where="options.headers", message="The headers must be an object of texts.")
        return
    for name, value in cast("Mapping[str, object]", headers).items():
        if not isinstance(value, str):
            yield Finding(where=f"options.headers.{name}", message=f"{name!r} must be text.")


def _one_authorization(headers: object) -> Iterator[Finding]:
    if not isinstance(headers, Mapping):
        return
    for name in cast("Mapping[object, object]", headers):
        if str(name).lower() == "authorization":
            yield Finding(
                where=f"options.headers.{name}",
                message="The login of options.auth sets this header: leave one of them out.",
            )
