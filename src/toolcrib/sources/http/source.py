"""This module is an open HTTP tool: it lists itself, calls its upstream, shows what it sends."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from toolcrib.errors import EgressBlocked, NotFound, ToolcribError
from toolcrib.secrets.masking import Masker
from toolcrib.secrets.places import OPEN
from toolcrib.sources.http.binding import Binding
from toolcrib.sources.http.bodies import Files
from toolcrib.sources.http.checking import HttpArguments
from toolcrib.sources.http.files import DocumentReader, gather_files
from toolcrib.sources.http.logins import PackageLogin
from toolcrib.sources.http.previews import preview_call
from toolcrib.sources.http.results import output_of
from toolcrib.sources.http.sending import Sender, failed_by, send
from toolcrib.sources.http.tool import HttpTool
from toolcrib.tools.call import Call
from toolcrib.tools.deadline import before_call
from toolcrib.tools.result import Output
from toolcrib.tools.source import Listing, Preview, Skip, ref


@dataclass(frozen=True, kw_only=True, slots=True)
class HttpSource:
    """One endpoint, opened for somebody. Every failure of a call is a failed Output."""

    tool: HttpTool
    binding: Binding = field(repr=False)
    sender: Sender = field(repr=False)
    documents: DocumentReader | None = field(default=None, repr=False)
    login: PackageLogin | None = field(default=None, repr=False)
    """Puts its token onto each request."""

    @property
    def checker(self) -> HttpArguments:
        """Checks arguments in the published words; whoever checks before the call uses it."""
        return self.tool.checker

    async def list(self) -> Listing:
        if self.tool.files and self.documents is None:
            skip = Skip(
                ref=ref(self.tool.rules.kind, self.tool.code, self.tool.spec.name),
                reason="it sends files, and files can only be sent from a chat",
                fix="Use the tool in a chat.",
            )
            return Listing(tools=(), skipped=(skip,))
        return Listing(tools=(self.tool.spec,))

    async def call(self, name: str, call: Call) -> Output:
        self._require(name)
        tool, host = self.tool, OPEN
        try:
            checked = call.arguments if call.checked else tool.checker.check(call.arguments)
            arguments = tool.given(checked)
            bound = self.binding.ready()
            if bound is None:
                bound, call = await before_call(call, self.binding.bound(), "the secrets")
            call.secrets.update(bound.private)
            host = bound.host
            files: Files = ()
            if tool.files:
                gathering = gather_files(tool.files, arguments, self.documents, call)
                files, call = await before_call(call, gathering, "the documents")
            request = bound.operation.render(arguments, files)
            refusal = bound.operation.refusal(arguments)
            if refusal is not None:
                raise EgressBlocked(f"{refusal}.", sent=False)
            seconds = min(tool.timeout, call.deadline)
            if self.login is None:
                response = await send(self.sender, request, call.exchange, seconds=seconds)
            else:
                response = await self.login.send(self.sender, request, call, seconds=seconds)
        except ToolcribError as error:
            return failed_by(error, host)
        # A login's tokens are no values of the definition: they came while the call ran.
        masker = bound.masker if self.login is None else Masker(call.secrets)
        return output_of(response, tool.rules, masker)

    async def preview(self, name: str, arguments: Mapping[str, Any]) -> Preview:
        """The request of a call, masked, and the guard's verdict; nothing is sent.

        Raises InvalidArguments for arguments that no request could be made of.
        """
        self._require(name)
        checked = self.tool.given(self.tool.checker.check(arguments))
        return await preview_call(self.tool, self.binding, self.sender, checked)

    async def close(self) -> None:
        """Connections belong to the process's one client."""

    def _require(self, name: str) -> None:
        if name != self.tool.spec.name:
            raise NotFound(f"This source has no tool {name!r}.")
