"""This module brings the options of an MCP capability into one form: for a vendor, for ourselves.

Nothing of it connects, so whoever words or shows a server may use it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, cast

from toolcrib.errors import EgressBlocked
from toolcrib.secrets.binding import hosts_of
from toolcrib.secrets.masking import MASK
from toolcrib.secrets.placeholders import SETTINGS, fill, needs
from toolcrib.sources.http.slots import Values
from toolcrib.sources.http.urls import address_of
from toolcrib.sources.oauth.options import has_auth, without_auth
from toolcrib.tools.dotted import expand_dotted

_STRIPPED: Final = ("server_label", "server_url", "require_approval")


def settings_needed(options: Mapping[str, Any]) -> frozenset[str]:
    """The settings whose values the options want."""
    return needs(options)


def canonical(options: Mapping[str, Any], values: Mapping[str, str]) -> dict[str, Any]:
    """The server as one dict with `"type": "mcp"`, as a vendor gets it.

    Stored values stand in its address as in those of HTTP tools: encoded for their place. Raises
    UnresolvedPlaceholderError that names the setting, EgressBlocked for a setting that may go to
    certain hosts only, InvalidOptions for keys that cannot be nested and for a value that would
    make another host of the address.
    """
    sent = without_auth(options)
    for name in sorted(needs(sent)):
        _require_free(name, values.get(name, ""))
    found, template = filled(options, values), expand_dotted(sent).get("server_url")
    if isinstance(template, str) and needs(template):
        place = Values(values, SETTINGS)
        found["server_url"] = address_of(template.strip(), place, where="options.server_url")
    return found


def filled(options: Mapping[str, Any], values: Mapping[str, str]) -> dict[str, Any]:
    """The same for whoever looks after the values' hosts himself: dotted keys nested, filled.

    How a login is got is nobody's business who has one: `auth` is left out.
    """
    sent = without_auth(options)
    found = cast("dict[str, Any]", fill(expand_dotted(sent), values, where="options"))
    for name in _STRIPPED:  # a stray blank would end at the vendor as HTTP 424
        if isinstance(found.get(name), str):
            found[name] = found[name].strip()
    return {**found, "type": "mcp"}


def masked(options: Mapping[str, Any]) -> dict[str, Any]:
    """The server as people see it: neither a setting's value nor any header's."""
    shown = filled(options, dict.fromkeys(needs(options), MASK))
    if has_auth(options):
        shown = with_login(shown, "")
    headers = shown.get("headers")
    if isinstance(headers, Mapping):
        shown["headers"] = dict.fromkeys(cast("Mapping[str, Any]", headers), MASK)
    return shown


def with_login(entry: Mapping[str, Any], token: str) -> dict[str, Any]:
    """The server with the access token of a login, as a vendor sends it."""
    given = entry.get("headers")
    members: Mapping[str, Any] = (
        cast("Mapping[str, Any]", given) if isinstance(given, Mapping) else {}
    )
    headers = {name: value for name, value in members.items() if name.lower() != "authorization"}
    return {**entry, "headers": {**headers, "Authorization": f"Bearer {token}"}}


def tool_names(allowed: object) -> list[str] | None:
    """The tool names of an allow-list; None for what cannot be read as one."""
    if isinstance(allowed, str):
        allowed = [allowed]
    elif isinstance(allowed, Mapping):
        members = cast("Mapping[object, object]", allowed)
        if not members or not all(str(key).isdecimal() for key in members):
            return None
        allowed = [members[key] for key in sorted(members, key=lambda key: int(str(key)))]
    if not isinstance(allowed, list | tuple):
        return None
    names = [name for name in cast("list[object]", allowed) if isinstance(name, str) and name]
    return names if len(names) == len(cast("list[object]", allowed)) else None


def _require_free(name: str, value: str) -> None:
    hosts = hosts_of(value)
    if hosts:
        raise EgressBlocked(
            f"The setting {name!r} may go to {', '.join(hosts)} only, and a hosted server's "
            "options go to the model's vendor.",
            hint="Store it without hosts, or let Toolcrib connect to the server.",
        )
