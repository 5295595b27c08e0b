"""This module makes a server out of a definition and the values that fill it.

Values that are limited to hosts are held to them here; what is wrong names its place.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, cast
from urllib.parse import urlsplit

from toolcrib.errors import EgressBlocked, InvalidOptions
from toolcrib.secrets.binding import hosts_of, may_go_to
from toolcrib.secrets.forms import private_forms
from toolcrib.secrets.placeholders import SECRETS, SETTINGS, Language, fill, needs
from toolcrib.secrets.places import OPEN, HiddenHost
from toolcrib.sources.http.slots import Values, read_text
from toolcrib.sources.http.upstreams import is_stored, upstream_of
from toolcrib.sources.http.urls import address_of
from toolcrib.sources.mcp.canonical import filled
from toolcrib.sources.mcp.servers import HttpServer, Server, StdioServer, Wire
from toolcrib.sources.oauth.options import without_auth
from toolcrib.tools.dotted import expand_dotted

_PORTS = {"https": 443, "http": 80}
_WIRES: Mapping[str, Wire] = {
    "mcp_server": "jsonrpc",
    "mcp_sse": "sse",
    "mcp_streamable_http": "streamable",
}
LONGEST = 600.0


def of_capability(options: Mapping[str, Any], values: Mapping[str, str]) -> HttpServer:
    """The server of a capability's options. Raises InvalidOptions, EgressBlocked."""
    found = filled(options, values)
    _address(found.get("server_url"), "options.server_url")
    template = expand_dotted(without_auth(options))["server_url"]
    url = address_of(template, Values(values, SETTINGS), where="options.server_url")
    host, place = _hidden(template, url, SETTINGS)
    used = {name: values[name] for name in needs(options)}
    sent = needs(without_auth(options))
    _hold({name: used[name] for name in sent}, url, host, noun="setting")
    return HttpServer(
        url=url,
        host=host,
        template=place,
        headers=_texts(found.get("headers"), "options.headers"),
        private=frozenset(private_forms(used.values())),
    )


def of_package(kind: str, config: Mapping[str, Any], values: Mapping[str, str]) -> Server:
    """The server of a package's config. Raises InvalidOptions, EgressBlocked."""
    config, whole = without_auth(config), config
    given = cast("dict[str, Any]", _filled(config, values, SECRETS))
    used = {name: values[name] for name in needs(whole, SECRETS)}
    private = frozenset(private_forms(used.values()))
    timeout = seconds(given.get("timeout"))
    if kind == "mcp_stdio":
        _refuse_bound(used)
        return StdioServer(
            command=_text(given.get("command"), "config.command"),
            args=tuple(_list(given.get("args"), "config.args")),
            env=_texts(given.get("env"), "config.env"),
            timeout=timeout,
            private=private,
        )
    _address(given.get("endpoint"), "config.endpoint")
    url = address_of(config["endpoint"], Values(values, SECRETS), where="config.endpoint")
    sent = needs(config, SECRETS)
    host, place = _hidden(config["endpoint"], url, SECRETS)
    _hold({name: used[name] for name in sent}, url, host, noun="secret")
    return HttpServer(
        url=url,
        host=host,
        template=place,
        wire=_WIRES[kind],
        headers=_texts(given.get("headers"), "config.headers"),
        timeout=timeout,
        private=private,
    )


def place_of(url: str) -> str | None:
    """`host:port` of an address."""
    try:
        parts = urlsplit(url)
        port = parts.port or _PORTS.get(parts.scheme, 0)
    except ValueError:
        return None
    return f"{parts.hostname}:{port}" if parts.hostname else None


def seconds(given: object) -> float | None:
    """A timeout of 1-600 s; None where there is none. Raises InvalidOptions."""
    if given is None:
        return None
    if isinstance(given, bool) or not isinstance(given, int | float) or not 1 <= given <= LONGEST:
        raise InvalidOptions(
            f"{given!r} is not a number of seconds from 1 to {LONGEST:g}.", where="config.timeout"
        )
    return float(given)


def _filled(value: Any, values: Mapping[str, str], language: Language) -> Any:
    return fill(value, values, language=language, where="config")


def _hidden(template: str, url: str, language: Language) -> tuple[HiddenHost, str | None]:
    """`(what errors do not tell, the place with its placeholders)`; `(OPEN, None)` where the
    definition itself says where the server is."""
    read = read_text(template, language, known=())
    if not is_stored(read):
        return OPEN, None
    return HiddenHost((urlsplit(url).hostname or "",)), upstream_of(read, language)


def _hold(used: Mapping[str, str], url: str, hidden: HiddenHost, *, noun: str) -> None:
    """Raises EgressBlocked for a value that may not go where the server is."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port or _PORTS.get(parts.scheme, 0)
    except ValueError:
        raise InvalidOptions("The server's address cannot be read.") from None
    for name, value in used.items():
        if not may_go_to(hosts_of(value), host, port):
            listed = ", ".join(hosts_of(value))
            refusal = f"The {noun} {name!r} may go to {listed} only, not to {host!r}."
            raise EgressBlocked(hidden.text(refusal), sent=False)


def _refuse_bound(used: Mapping[str, str]) -> None:
    for name, value in used.items():
        if hosts_of(value):
            raise EgressBlocked(
                f"The secret {name!r} may go to {', '.join(hosts_of(value))} only; nobody can tell "
                "where a command sends it.",
                hint="Store it without hosts.",
                sent=False,
            )


def _address(given: object, where: str) -> str:
    url = _text(given, where).strip()
    if not url.lower().startswith(("https://", "http://")):
        raise InvalidOptions("The server's address is not an http or https one.", where=where)
    return url


def _text(given: object, where: str) -> str:
    if not isinstance(given, str) or not given.strip():
        raise InvalidOptions("It must be text.", where=where)
    return given


def _texts(given: object, where: str) -> dict[str, str]:
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise InvalidOptions("It must be an object of texts.", where=where)
    members = cast("Mapping[str, object]", given)
    for name, value in members.items():
        if not isinstance(value, str) or any(c in value or c in name for c in "\r\n\0"):
            raise InvalidOptions(f"{name!r} must be text of one line.", where=f"{where}.{name}")
    return cast("dict[str, str]", dict(members))


def _list(given: object, where: str) -> Iterable[str]:
    if given is None:
        return ()
    items = cast("list[object]", given) if isinstance(given, list | tuple) else [None]
    for item in items:
        if not isinstance(item, str) or "\0" in item:
            raise InvalidOptions("It must be a list of texts.", where=where)
    return cast("list[str]", items)
