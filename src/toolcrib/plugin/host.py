"""This module holds what a plugin sees of us: the context that its `register` may take."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from toolcrib.documents.document import BlobStore, DocumentStore
from toolcrib.plugin.changes import Predicate
from toolcrib.plugin.documents import DocumentService
from toolcrib.plugin.home import Home
from toolcrib.plugin.lent import Lent
from toolcrib.plugin.recording import Recording
from toolcrib.plugin.rooms import Rooms
from toolcrib.tools.call import current_call

__all__ = ["DocumentService", "Host", "PluginContext", "current_host"]


class Values(Protocol):
    """Where the values of settings come from."""

    async def find(self, name: str, *, user_id: int | None, group_id: int | None) -> str | None:
        """None where there is none. Raises SecretUndecryptable."""
        ...


class Host:
    """What the installation offers to plugins, built from ports. Make it in the server's loop."""

    def __init__(
        self,
        *,
        values: Values | None = None,
        documents: DocumentStore | None = None,
        blobs: BlobStore | None = None,
    ) -> None:
        self._values = values
        self._home = Home()
        self.lent: Lent | None = None
        """What an open installation lends; None where nothing is open."""
        self.rooms: Rooms | None = None
        """What chats have of their own: sandboxes, pages of a browser; None as above."""
        self.document_service: DocumentService | None = None
        if documents is not None and blobs is not None:
            self.document_service = DocumentService(documents, blobs, self._home)

    async def get_user_setting_value(
        self, value_name: str, user_id: int | None, group_id: int | None
    ) -> str:
        """The user's value of a setting, else the group's, else "".

        While a tool is called the value is masked in whatever leaves the call. Raises
        SecretUndecryptable, which names the setting, when the value's key is not here.
        """
        values = self._values
        if values is None:
            return ""
        found = await self._home.run(
            lambda: values.find(value_name, user_id=user_id, group_id=group_id)
        )
        call = current_call.get()
        if found and call is not None:
            call.secrets.add(found)
        return found or ""

    def context_for(self, recording: Recording) -> PluginContext:
        """The context of the plugin whose registrations go into `recording`."""
        return PluginContext(self, recording)


class PluginContext:
    """PrimeThink's context, with `condition` and `lent` besides.

    `get_user_setting_value` is `async (value_name, user_id, group_id) -> str`;
    `document_service` is None where the installation keeps no documents.
    """

    def __init__(self, host: Host, recording: Recording) -> None:
        self.get_user_setting_value = host.get_user_setting_value
        self.document_service = host.document_service
        self._host = host
        self._recording = recording

    @property
    def lent(self) -> Lent | None:
        """What the installation lends to the running call; None where nothing is open."""
        return self._host.lent

    @property
    def rooms(self) -> Rooms | None:
        """What chats have of their own: sandboxes, pages of a browser; None as above."""
        return self._host.rooms

    def condition(self, code: str, predicate: Predicate) -> None:
        """Add a runtime condition: `predicate` decides about `code` whenever it is resolved."""
        self._recording.register_condition(code, predicate)


_open: list[Host] = []


def current_host() -> Host | None:
    """The host that was opened last in this process, for tools that were given none."""
    return _open[-1] if _open else None


def enter(host: Host) -> Callable[[], None]:
    """Make it the current one; returns what takes it back."""
    _open.append(host)

    def leave() -> None:
        if host in _open:
            _open.remove(host)

    return leave
