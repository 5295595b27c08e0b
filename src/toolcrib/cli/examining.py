"""This module examines an installation, a visible list of checks one after the other. No check
changes anything, and none ends the others."""

from __future__ import annotations

import asyncio
import os
import platform as machine
import stat
from collections.abc import Awaitable, Callable
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from toolcrib.cli.findings import Finding, note, ok, problem
from toolcrib.cli.sealed import sealed_values
from toolcrib.cli.server import answers
from toolcrib.cli.trying import try_plugins
from toolcrib.cli.walls import check_browser, check_commands, check_confined_servers
from toolcrib.cli.whereabouts import told_in
from toolcrib.cli.words import many
from toolcrib.errors import SetupError, ToolcribError
from toolcrib.net.allow import AllowList
from toolcrib.secrets.keyfile import KeyFile
from toolcrib.secrets.sealing import Sealer
from toolcrib.storage import HEAD, open_blobs, open_redis, open_storage, revision
from toolcrib.storage.address import Address
from toolcrib.storage.blobs import bucket_of
from toolcrib.storage.s3_address import SETTING as DOCUMENTS
from toolcrib.storage.schema import require_known

if TYPE_CHECKING:
    from toolcrib.settings import Settings

Check = Callable[["Settings"], Awaitable[list[Finding]]]
_PARTS = ("pydantic", "sqlalchemy", "fastapi", "langchain-core", "cryptography")


async def examine(settings: Settings) -> list[Finding]:
    """Every finding, in the order of the checks."""
    findings: list[Finding] = []
    for check in CHECKS:
        try:
            findings += await check(settings)
        except ToolcribError as error:
            findings.append(problem(_name(check), error.message, error.hint or ""))
        except OSError as error:
            findings.append(problem(_name(check), f"It cannot be looked at: {error}.", ""))
    return findings


async def check_versions(settings: Settings) -> list[Finding]:
    parts = ", ".join(f"{name} {version(name)}" for name in _PARTS)
    text = f"toolcrib {version('toolcrib')}, Python {machine.python_version()}, {parts}"
    return [ok("versions", text)]


async def check_data_directory(settings: Settings) -> list[Finding]:
    folder = settings.data_dir
    if not folder.exists():
        return [note("data directory", f"{folder} is not there yet", "toolcrib serve makes it")]
    if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        return [_bad_folder(folder, "cannot be written to", f"chown it to uid {os.getuid()}")]
    mode = stat.S_IMODE(folder.stat().st_mode)
    if mode & 0o077:
        return [_bad_folder(folder, f"is open to others ({mode:04o})", f"chmod 700 {folder}")]
    return [ok("data directory", f"{folder}, for its owner alone")]


async def check_database(settings: Settings) -> list[Finding]:
    shown = str(Address.of(settings.database))
    present = await revision(settings.database)
    if present is None:
        return [note("database", f"{shown} is empty", "toolcrib db upgrade, or start a server")]
    require_known(present, shown)
    if present != HEAD:
        return [problem("database", f"{shown} is at {present}, not {HEAD}", "toolcrib db upgrade")]
    return [ok("database", f"{shown} at revision {present}")]


async def check_keys(settings: Settings) -> list[Finding]:
    keys = _keys(settings)
    if not keys:
        return [note("keys", "there are none yet", "the first start makes one")]
    Sealer(lambda: keys)  # raises when one is no key
    if settings.vault_keys.get_secret_value():
        return [ok("keys", f"{many(len(keys), 'key')} in TOOLCRIB_VAULT_KEYS")]
    file = _key_file(settings)
    mode = stat.S_IMODE(file.stat().st_mode)
    if mode & 0o077:
        text = f"{file} is open to others ({mode:04o})"
        return [problem("keys", text, f"chmod 600 {file}")]
    return [ok("keys", f"{many(len(keys), 'key')} in {file}")]


async def check_sealed_values(settings: Settings) -> list[Finding]:
    keys = _keys(settings)
    if not keys or await revision(settings.database) != HEAD:
        return []
    sealer = Sealer(lambda: keys)
    storage = await open_storage(settings.database)
    try:
        found = await sealed_values(storage, sealer)
    finally:
        await storage.close()
    if found.lost:
        text = f"sealed with a key that is not here: {', '.join(found.lost)}"
        return [problem("sealed values", text, "put the old key back, or set the values again")]
    number = f"{many(found.settings, 'setting')} and {many(found.secrets, 'secret')}"
    if found.logins:
        number = f"{number}, {many(found.logins, 'login')}"
    return [ok("sealed values", f"{number}, each can be unsealed")]


async def check_documents(settings: Settings) -> list[Finding]:
    address = settings.documents_url.get_secret_value()
    bucket = bucket_of(address)
    if bucket is None:
        return [ok("documents", str(settings.data_dir / "documents"))]
    blobs = open_blobs(address, folder=settings.data_dir)
    try:
        await blobs.ping()
    finally:
        await blobs.close()
    return [ok("documents", f"{bucket}, which answers")]


async def check_redis(settings: Settings) -> list[Finding]:
    url = settings.redis_url.get_secret_value()
    if not url:
        return [note("redis", "none: processes look at the database each second")]
    parts = open_redis(url, name="doctor")
    try:
        await parts.link.ask("PING")
    except SetupError as error:
        return [problem("redis", error.message, error.hint or "")]
    finally:
        await parts.close()
    return [ok("redis", f"{parts.link.place} answers")]


async def check_plugins(settings: Settings) -> list[Finding]:
    results = await try_plugins(settings, [])
    if not results:
        return [note("plugins", "none is installed", "toolcrib plugins new NAME begins one")]
    return [
        ok("plugins", f"{one['name']}: {', '.join(one['tools'])}")
        if one["ok"]
        else problem(
            "plugins",
            f"{one['name']}: {one['error'] or 'tools that cannot be used'}",
            f"toolcrib plugins check {one['name']}",
        )
        for one in results
    ]


async def check_server(settings: Settings) -> list[Finding]:
    address = told_in(settings.data_dir)
    if address is None:
        return [note("server", "none runs on this data directory", "toolcrib serve starts one")]
    if await asyncio.to_thread(answers, address):
        return [ok("server", f"{address} answers")]
    return [note("server", f"the one at {address} is gone", "toolcrib serve starts another")]


async def check_trusted_addresses(settings: Settings) -> list[Finding]:
    """What the egress guard never sees, for the operator set it, and what widens it."""
    AllowList.parse(settings.egress_allow)
    named = {
        "TOOLCRIB_DATABASE_URL": settings.database_url,
        "TOOLCRIB_REDIS_URL": settings.redis_url.get_secret_value(),
        "TOOLCRIB_OIDC_ISSUER": settings.oidc_issuer,
        "TOOLCRIB_EGRESS_PROXY": settings.egress_proxy.get_secret_value(),
    }
    findings = [
        note("trusted address", f"{_place(url)} by {name}") for name, url in named.items() if url
    ]
    if bucket := bucket_of(settings.documents_url.get_secret_value()):
        findings.append(note("trusted address", f"{bucket.place} by {DOCUMENTS}"))
    if settings.egress_allow:
        allowed = ", ".join(settings.egress_allow)
        findings.append(note("egress allows", f"{allowed} by TOOLCRIB_EGRESS_ALLOW"))
    if settings.stdio_allow:
        commands = ", ".join(settings.stdio_allow)
        findings.append(note("commands allowed", f"{commands} by TOOLCRIB_STDIO_ALLOW"))
    return findings or [ok("trusted address", "none besides the public internet")]


CHECKS: tuple[Check, ...] = (
    check_versions,
    check_data_directory,
    check_database,
    check_keys,
    check_sealed_values,
    check_documents,
    check_redis,
    check_plugins,
    check_server,
    check_commands,
    check_confined_servers,
    check_browser,
    check_trusted_addresses,
)


def _keys(settings: Settings) -> tuple[str, ...]:
    """The keys that there are; none is made."""
    if given := settings.vault_keys.get_secret_value():
        return tuple(key.strip() for key in given.split(",") if key.strip())
    file = _key_file(settings)
    return tuple(KeyFile(file).keys()) if file.exists() else ()


def _key_file(settings: Settings) -> Path:
    return settings.data_dir / "vault.key"


def _place(url: str) -> str:
    """Host and port of an address: the rest may hold a password."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return "what is no address"
    return parts.netloc.rpartition("@")[2] or parts.path


def _bad_folder(folder: Path, what: str, fix: str) -> Finding:
    return problem("data directory", f"{folder} {what}", fix)


def _name(check: Check) -> str:
    return getattr(check, "__name__", "check").removeprefix("check_").replace("_", " ")
