"""This module holds the desk: one attribute a noun, each with its verbs."""

from __future__ import annotations

from dataclasses import dataclass

from toolcrib.desk.agents import Agents
from toolcrib.desk.calls import Calls
from toolcrib.desk.capabilities import Capabilities
from toolcrib.desk.chats import Chats
from toolcrib.desk.connections import Connections
from toolcrib.desk.documents import Documents
from toolcrib.desk.groups import Groups
from toolcrib.desk.packages import InstalledTools
from toolcrib.desk.pins import Pins
from toolcrib.desk.pins_looking import PinLooking
from toolcrib.desk.plugins import LoadedPlugins
from toolcrib.desk.repeats import Repeats
from toolcrib.desk.secrets import StoredSecrets
from toolcrib.desk.servers import McpServers
from toolcrib.desk.settings import StoredSettings
from toolcrib.desk.tokens import Tokens
from toolcrib.desk.tool_classes import ToolClasses
from toolcrib.desk.tools import Tools
from toolcrib.desk.users import Users


@dataclass(frozen=True, kw_only=True, slots=True)
class Desk:
    """Everything that a caller may ask for; every first argument is the Caller."""

    groups: Groups
    users: Users
    tokens: Tokens
    settings: StoredSettings
    secrets: StoredSecrets
    packages: InstalledTools
    capabilities: Capabilities
    agents: Agents
    chats: Chats
    documents: Documents
    calls: Calls
    repeats: Repeats
    plugins: LoadedPlugins
    tools: Tools
    tool_classes: ToolClasses
    servers: McpServers
    connections: Connections
    pins: Pins
    pins_looking: PinLooking
