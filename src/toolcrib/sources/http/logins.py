"""This module sends a package's requests with the access token of its login.

The token is for the origin of the package's own address: a request that goes elsewhere has none.
APIs do not say whom they trust, so the package names the issuer, and no resource is asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, cast
from urllib.parse import urlsplit

from toolcrib.errors import EgressBlocked, InvalidOptions
from toolcrib.net.response import Response
from toolcrib.secrets.logins import LoginOwner
from toolcrib.secrets.placeholders import SECRETS, fill, needs
from toolcrib.sources.http.binding import SecretLookup
from toolcrib.sources.http.operation import Request
from toolcrib.sources.http.sending import Sender, send
from toolcrib.sources.oauth.bearing import Bearer, bearer_for
from toolcrib.sources.oauth.credentials import Credentials
from toolcrib.sources.oauth.options import auth_of
from toolcrib.sources.oauth.options import findings as auth_findings
from toolcrib.sources.oauth.wanted import Wanted, missing, owner_of
from toolcrib.tools.call import Call
from toolcrib.tools.source import Finding

_UNAUTHORIZED = 401


class PackageLogin:
    """The login of one http package, for whoever calls."""

    def __init__(
        self, definition: Mapping[str, Any], secret: SecretLookup, credentials: Credentials | None
    ) -> None:
        self._definition = definition
        self._secret = secret
        self._credentials = credentials

    async def send(
        self, sender: Sender, request: Request, call: Call, *, seconds: float
    ) -> Response:
        """The answer; a refused token is renewed once. Raises NotConnected, ScopesWanted,
        SourceError."""
        caller = call.caller
        wanted = await self.wanted(user_id=caller.user_id, group_id=caller.group_id)
        if self._credentials is None:
            raise missing(wanted, "logins are kept by an open platform, and this is none")
        if origin(request.url) != wanted.resource:
            raise EgressBlocked("The login is for another place than the request.", sent=False)
        bearer = await bearer_for(self._credentials, wanted)
        token = await bearer.token()
        response = await self._sent(sender, request, call, bearer, token, seconds)
        if response.status == _UNAUTHORIZED:
            newer = await bearer.token(stale=token)
            if newer != token:
                response = await self._sent(sender, request, call, bearer, newer, seconds)
        told = response.headers.getall("WWW-Authenticate", ())
        refusal = await bearer.refusal(response.status, told)
        if refusal is not None:
            raise refusal
        return response

    async def wanted(self, *, user_id: int, group_id: int | None) -> Wanted:
        """Raises InvalidOptions, SecretMissing, NotConnected."""
        config = cast("Mapping[str, Any]", self._definition["config"])
        asked = sorted(needs([config.get("auth"), config.get("url")], SECRETS))
        values = {name: await self._secret(name) for name in asked}
        auth = auth_of(config, values, where="config.auth", language=SECRETS)
        if auth is None:
            raise InvalidOptions("The package wants no login.", where="config.auth")
        owner = LoginOwner()
        if auth.grant == "authorization_code":
            owner = owner_of(auth, user_id=user_id, group_id=group_id)
        slug = str(self._definition["slug"])
        url = str(fill(config.get("url"), values, language=SECRETS, where="config.url"))
        return Wanted(
            ref=f"package:{slug}",
            label=str(self._definition.get("name") or slug),
            owner=owner,
            resource=origin(url),
            names_resource=False,
            auth=auth,
        )

    async def _sent(
        self,
        sender: Sender,
        request: Request,
        call: Call,
        bearer: Bearer,
        token: str,
        seconds: float,
    ) -> Response:
        call.secrets.update(bearer.private)
        headers = [*request.headers, ("Authorization", f"Bearer {token}")]
        dressed = request._replace(headers=headers)
        return await send(sender, dressed, call.exchange, seconds=seconds)


def origin(url: str) -> str:
    """`https://host`, with the port where there is one. Raises InvalidOptions."""
    try:
        parts = urlsplit(url.strip())
    except ValueError:
        parts = urlsplit("")
    if not parts.netloc or "{" in parts.netloc:
        raise InvalidOptions(
            "A login needs an address whose host no argument decides.", where="config.url"
        )
    default = {"https": ":443", "http": ":80"}.get(parts.scheme.lower(), "")
    return f"{parts.scheme.lower()}://{parts.netloc.lower().removesuffix(default)}"


def login_findings(config: Mapping[str, Any]) -> Iterator[Finding]:
    """What is wrong with `config.auth` of an http package, where there is one."""
    auth = config.get("auth")
    if auth is None:
        return
    yield from auth_findings(auth, where="config.auth", language=SECRETS)
    if isinstance(auth, Mapping) and cast("Mapping[str, Any]", auth).get("issuer") is None:
        yield Finding(
            where="config.auth.issuer", message="It is missing: an API does not say whom it trusts."
        )
    headers = config.get("headers")
    for name in cast("Mapping[object, Any]", headers) if isinstance(headers, Mapping) else ():
        if str(name).lower() == "authorization":
            message = "The login of config.auth sets this header: leave one of them out."
            yield Finding(where=f"config.headers.{name}", message=message)
    host = urlsplit(str(config.get("url") or "")).netloc
    if "{" in host.replace("{{", "").replace("}}", ""):
        message = "A login needs an address whose host no argument decides."
        yield Finding(where="config.url", message=message)
