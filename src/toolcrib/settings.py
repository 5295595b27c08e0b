"""This module reads the installation's settings from the environment (`TOOLCRIB_*`).

Only `platform` and `cli` read it; everything else gets what it needs as an argument.
"""

from __future__ import annotations

import os
from ipaddress import ip_network
from pathlib import Path
from typing import Annotated, Literal, Self
from urllib.parse import urlsplit

from pydantic import Field, SecretStr, field_validator, model_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

SHORTEST_TOKEN = 8
Names = Annotated[tuple[str, ...], NoDecode]


def _default_data_dir() -> Path:
    base = os.environ.get("XDG_DATA_HOME") or str(Path.home() / ".local" / "share")
    return Path(base) / "toolcrib"


class Settings(BaseSettings):
    """Everything an operator may set. Times are in seconds unless the name says otherwise."""

    model_config = SettingsConfigDict(env_prefix="TOOLCRIB_", extra="ignore", frozen=True)

    data_dir: Path = Field(default_factory=_default_data_dir)
    """Where the database, the vault key, documents and logs live."""
    database_url: str = ""
    """`sqlite:///PATH` or `postgresql://…`; empty: `toolcrib.db` in the data directory."""
    documents_url: SecretStr = SecretStr("")
    """`s3://bucket/prefix?endpoint=…&region=…`: where documents are kept; empty or `folder`:
    `documents` in the data directory."""
    redis_url: SecretStr = SecretStr("")
    """`redis://…`: processes hear of each other's changes at once, a revoked token among them, and
    share a cache. Empty: they look at the database each second."""
    vault_keys: SecretStr = SecretStr("")
    """Fernet keys, newest first, separated by commas; empty: `vault.key` in the data directory."""
    admin_token: SecretStr = SecretStr("")
    """The first super-admin's token; empty: the first start makes one and prints it once."""
    host: str = "127.0.0.1"
    """The address to listen on."""
    port: int = Field(default=8420, ge=0, le=65535)
    """The port to listen on; 0: any free one."""
    workers: int = Field(default=1, ge=1, le=64)
    """How many server processes share the port."""
    public_url: str = ""
    """How the outside reaches the server, path prefix included; empty: where it listens."""
    cors_origins: Names = ()
    """Origins whose pages may call the API from a browser, separated by commas; empty: none."""
    trusted_proxies: Names = ()
    """Addresses or networks of reverse proxies whose `X-Forwarded-*` headers are believed."""
    oidc_issuer: str = ""
    """The OIDC issuer whose tokens are taken beside our own, as it writes itself in `iss`; its
    address is trusted. Empty: none."""
    oidc_audience: Names = ()
    """Audiences that the issuer's tokens may be for, separated by commas, beside
    `TOOLCRIB_PUBLIC_URL`."""
    oidc_user_claim: str = "sub"
    """The claim that holds the name of the user, to the letter."""
    oidc_groups_claim: str = ""
    """The claim that lists the names of the user's groups; empty: groups are kept here."""
    oidc_provision: bool = False
    """Make a user with the role `user` when somebody comes whom nobody made."""
    oidc_super_admins: bool = False
    """Let super-admins in with tokens of the issuer."""
    oidc_scopes: Names = ("openid",)
    """The scopes that MCP clients are told to ask the issuer for."""
    egress_allow: Names = ()
    """`host`, `host:port` or networks that tools may reach although the guard would refuse them."""
    egress_proxy: SecretStr = SecretStr("")
    """`http://[user:password@]host:port` of the proxy that connects for the guard; empty: none."""
    stdio_allow: Names = ()
    """Commands that may be started as MCP servers; empty: none."""
    stdio_sandbox: Literal["off", "bwrap"] = "off"
    """Whether MCP servers that are started here run behind walls: a read-only machine, a home of
    their own, and only the environment that their definition names."""
    sandbox: Literal["auto", "off", "plain"] = "auto"
    """Whether agents may run commands: `auto` where bubblewrap can isolate them, `off` nowhere,
    `plain` without isolation too, with the rights of whoever runs Toolcrib or of an unused user."""
    sandbox_network: bool = False
    """Let commands of agents use the machine's network, loopback and all, past the egress guard."""
    sandbox_memory: int = Field(default=1024, ge=32)
    """How much memory a chat's commands may use, in MiB."""
    sandbox_disk: int = Field(default=1024, ge=1)
    """How much a chat's workspace may hold, in MiB."""
    sandbox_processes: int = Field(default=256, ge=4)
    """How many processes and threads a chat's commands may have at one time."""
    sandbox_git_remote: SecretStr = SecretStr("")
    """The repository that agents push workspaces to, an address or a folder; `{chat}` in it becomes
    the chat's number. Empty: the setting GIT_REMOTE of the user or group, an https address."""
    browser: str = "auto"
    """`auto`: agents may browse where Playwright and a Chromium are installed; `off`; or the path
    of the Chromium to use."""
    plugin_groups: Names = ()
    """Entry-point groups besides `toolcrib.tools` and `primethink.tools`."""
    builtin_tools: bool = True
    """Whether the tools in the box are there: messages, task lists, search and the others."""
    serper_url: str = "https://google.serper.dev"
    """Where web and image searches go; the service speaks Serper's interface."""
    vapi_url: str = "https://api.vapi.ai"
    """Where phone calls are made; the service speaks Vapi's interface."""
    plugin_timeout: float = Field(default=20.0, gt=0)
    """How long one plugin may take to load."""
    environment: Literal["production", "development"] = "production"
    """What the installation is for; a runtime condition adds developer tools in `development`."""
    pins: Literal["off", "block", "hold", "accept_text"] = "hold"
    """What becomes of a tool whose definition changed: `hold` it until a person accepts, `block` it
    until tools.lock names it, `accept_text` where only text changed, or `off`: nothing."""
    pins_first: Literal["accept", "hold"] = "accept"
    """What becomes of a tool that was never seen before: it is accepted as it is, or held."""
    call_timeout: float = Field(default=60.0, gt=0)
    """The deadline of a call, in seconds."""
    breaker_failures: int = Field(default=5, ge=0)
    """After how many failures in a row calls to an upstream pause for a while; 0: they never do."""
    tool_search_above: int = Field(default=0, ge=0)
    """Agents with more tools than this are offered `search_tools` and `call_tool` in place of the
    tools, unless the agent itself says `on` or `off`; 0: none are."""
    result_limit: int = Field(default=256 * 1024, ge=1024)
    """How many bytes of one result reach the model; the rest is cut and said so."""
    journal_days: int = Field(default=90, ge=0)
    """How long calls are kept; 0: for ever."""
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    """The least severe message that is logged. At `debug` those of libraries are left out: they
    hold rows and headers."""
    log_format: Literal["console", "json"] = "console"
    """`console` for people, `json` for log collectors."""
    allow_langsmith: bool = False
    """Let LangSmith trace what runs inside Toolcrib; off, nothing of it is sent."""

    @field_validator(
        "cors_origins",
        "trusted_proxies",
        "oidc_audience",
        "oidc_scopes",
        "egress_allow",
        "stdio_allow",
        "plugin_groups",
        mode="before",
    )
    @classmethod
    def _comma_list(cls, value: object) -> object:
        if isinstance(value, str):
            return tuple(part.strip() for part in value.split(",") if part.strip())
        return value

    @field_validator("public_url", "serper_url", "vapi_url")
    @classmethod
    def _web_address(cls, value: str) -> str:
        parts = urlsplit(value)
        if value and (parts.scheme not in {"http", "https"} or not parts.hostname):
            raise ValueError(f"{value!r} is no address like https://tools.example.com/crib")
        return value

    @field_validator("oidc_issuer")
    @classmethod
    def _issuer_address(cls, value: str) -> str:
        parts = urlsplit(value)
        whole = parts.scheme in {"http", "https"} and parts.hostname
        if value and (not whole or parts.query or parts.fragment or parts.username):
            raise ValueError(f"{value!r} is no issuer like https://login.example.com/realm")
        return value

    @model_validator(mode="after")
    def _for_somebody(self) -> Self:
        """Without an audience every token of the issuer would do, whomever it is for."""
        if self.oidc_issuer and not self.oidc_audience and not self.public_url:
            raise ValueError("oidc_issuer needs public_url or oidc_audience: whom tokens are for")
        return self

    @field_validator("cors_origins")
    @classmethod
    def _origins(cls, values: tuple[str, ...]) -> tuple[str, ...]:
        for value in values:
            parts = urlsplit(value)
            whole = parts.scheme in {"http", "https"} and parts.hostname and parts.path in {"", "/"}
            if value != "*" and not whole:
                raise ValueError(f"{value!r} is no origin like https://app.example.com")
        return values

    @field_validator("trusted_proxies")
    @classmethod
    def _networks(cls, values: tuple[str, ...]) -> tuple[str, ...]:
        for value in values:
            if value != "*":
                ip_network(value, strict=False)
        return values

    @field_validator("admin_token")
    @classmethod
    def _hard_to_guess(cls, value: SecretStr) -> SecretStr:
        if 0 < len(value.get_secret_value()) < SHORTEST_TOKEN:
            raise ValueError(f"a token has at least {SHORTEST_TOKEN} characters")
        return value

    @property
    def database(self) -> str:
        """The database's address in one form, whatever was given."""
        return self.database_url or f"sqlite:///{self.data_dir / 'toolcrib.db'}"
