"""This module opens the desk: its nouns, put together from the parts of an open installation."""

from __future__ import annotations

from toolcrib.desk.agents import Agents
from toolcrib.desk.calls import Calls
from toolcrib.desk.capabilities import Capabilities
from toolcrib.desk.chats import Chats
from toolcrib.desk.connections import Connections
from toolcrib.desk.desk import Desk
from toolcrib.desk.documents import Documents
from toolcrib.desk.entering import Entrance
from toolcrib.desk.groups import Groups
from toolcrib.desk.login_pages import LoginPages
from toolcrib.desk.login_places import LoginPlaces
from toolcrib.desk.packages import InstalledTools
from toolcrib.desk.parts import Parts
from toolcrib.desk.pins import Pins
from toolcrib.desk.pins_looking import PinLooking
from toolcrib.desk.plugins import LoadedPlugins
from toolcrib.desk.repeats import Repeats
from toolcrib.desk.replying import Replying
from toolcrib.desk.secrets import StoredSecrets
from toolcrib.desk.server_packages import PackageServers
from toolcrib.desk.servers import McpServers
from toolcrib.desk.settings import StoredSettings
from toolcrib.desk.tokens import Tokens
from toolcrib.desk.tool_classes import ToolClasses
from toolcrib.desk.tools import Tools
from toolcrib.desk.users import Users


def open_desk(parts: Parts) -> Desk:
    """All nouns over the same parts."""
    stores, signals = parts.stores, parts.stores.signals
    entrance = Entrance(chats=stores.chats, environment=parts.environment)
    pins = Pins(
        pins=stores.pins,
        capabilities=stores.capabilities,
        rules=parts.holding.rules,
        signals=signals,
    )
    capabilities = Capabilities(
        capabilities=stores.capabilities,
        groups=stores.groups,
        registry=parts.registry,
        kinds=parts.capability_kinds,
        signals=signals,
    )
    return Desk(
        groups=Groups(groups=stores.groups, signals=signals),
        users=Users(users=stores.users, signals=signals),
        tokens=_tokens(parts),
        settings=_settings(parts),
        secrets=StoredSecrets(vault=parts.vault, packages=stores.packages, signals=signals),
        packages=_packages(parts, pins),
        capabilities=capabilities,
        connections=_connections(parts, capabilities),
        servers=_servers(parts, capabilities),
        pins=pins,
        pins_looking=_pins_looking(parts),
        agents=_agents(parts),
        chats=_chats(parts, entrance),
        documents=Documents(documents=stores.documents, blobs=parts.blobs, entrance=entrance),
        calls=Calls(journal=stores.journal),
        repeats=_repeats(parts),
        plugins=LoadedPlugins(plugins=parts.plugins, signals=signals),
        tools=_tools(parts, entrance),
        tool_classes=ToolClasses(),
    )


def _tokens(parts: Parts) -> Tokens:
    return Tokens(
        tokens=parts.stores.tokens,
        users=parts.stores.users,
        agents=parts.stores.agents,
        signals=parts.stores.signals,
        clock=parts.clock,
    )


def _settings(parts: Parts) -> StoredSettings:
    return StoredSettings(
        values=parts.values,
        vault=parts.vault,
        groups=parts.stores.groups,
        signals=parts.stores.signals,
        add_key=parts.add_key,
        rotate_logins=parts.logins.rotate,
    )


def _packages(parts: Parts, pins: Pins) -> InstalledTools:
    return InstalledTools(
        packages=parts.stores.packages,
        vault=parts.vault,
        kinds=parts.kinds,
        installed=parts.installed,
        signals=parts.stores.signals,
        fetch=parts.fetch,
        run=parts.run,
        clock=parts.clock,
        pins=pins,
    )


def _connections(parts: Parts, capabilities: Capabilities) -> Connections:
    return Connections(
        places=LoginPlaces(
            capabilities=capabilities,
            agents=parts.stores.agents,
            packages=parts.stores.packages,
            kinds=parts.kinds,
            provider=parts.servers,
        ),
        parts=parts.logins,
        pages=LoginPages(
            connecting=parts.logins.connecting,
            users=parts.stores.users,
            groups=parts.stores.groups,
        ),
        clock=parts.clock,
    )


def _servers(parts: Parts, capabilities: Capabilities) -> McpServers:
    return McpServers(
        capabilities=capabilities,
        packages=PackageServers(
            packages=parts.stores.packages,
            kinds=parts.kinds,
            installed=parts.installed,
            agents=parts.stores.agents,
            capabilities=capabilities,
            holding=parts.holding,
        ),
        provider=parts.servers,
        holding=parts.holding,
    )


def _pins_looking(parts: Parts) -> PinLooking:
    return PinLooking(
        holding=parts.holding,
        pins=parts.stores.pins,
        capabilities=parts.stores.capabilities,
        packages=parts.stores.packages,
        values=parts.values,
        providers=parts.providers,
        servers=parts.servers,
        installed=parts.installed,
        shelf=parts.shelf,
        signals=parts.stores.signals,
    )


def _agents(parts: Parts) -> Agents:
    return Agents(
        agents=parts.stores.agents,
        chats=parts.stores.chats,
        ended=parts.chat_ended,
        capabilities=parts.stores.capabilities,
        documents=parts.stores.documents,
        blobs=parts.blobs,
        packages=parts.stores.packages,
        signals=parts.stores.signals,
        known=parts.shelf,
    )


def _chats(parts: Parts, entrance: Entrance) -> Chats:
    return Chats(
        chats=parts.stores.chats,
        tasks=parts.stores.tasks,
        documents=parts.stores.documents,
        blobs=parts.blobs,
        entrance=entrance,
        resolver=parts.resolver,
        replying=Replying(chats=parts.stores.chats, resolver=parts.resolver, invoke=parts.invoke),
        ended=parts.chat_ended,
    )


def _repeats(parts: Parts) -> Repeats:
    return Repeats(
        store=parts.stores.repeats,
        sealer=parts.sealer,
        clock=parts.clock,
        longest=parts.call_timeout,
    )


def _tools(parts: Parts, entrance: Entrance) -> Tools:
    return Tools(
        resolver=parts.resolver,
        invoke=parts.invoke,
        entrance=entrance,
        users=parts.stores.users,
        shelf=parts.shelf,
    )
