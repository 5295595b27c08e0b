"""Our side as a client: what the official conformance suite saw as we connected to its servers."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.conformance.suite import ALPHA, Run, of_client

SESSION, MODERN = "2025-11-25", "2026-07-28"
PLAIN = (
    ("initialize", SESSION),
    ("tools_call", SESSION),
    ("tools_call", MODERN),
    ("request-metadata", MODERN),
    ("sep-2322-client-request-state", MODERN),
    ("http-standard-headers", MODERN),
    ("http-custom-headers", MODERN),
    ("http-invalid-tool-headers", MODERN),
    ("json-schema-ref-no-deref", MODERN),
    ("json-schema-2020-12-preservation", MODERN),
)
LOGINS = tuple(
    (f"auth/{name}", MODERN)
    for name in (
        "metadata-default",
        "metadata-var1",
        "metadata-var2",
        "metadata-var3",
        "basic-cimd",
        "scope-from-www-authenticate",
        "scope-from-scopes-supported",
        "scope-omitted-when-undefined",
        "token-endpoint-auth-basic",
        "token-endpoint-auth-post",
        "token-endpoint-auth-none",
        "resource-mismatch",
        "offline-access-scope",
        "offline-access-not-supported",
        "iss-supported",
        "iss-not-advertised",
        "iss-supported-missing",
        "iss-wrong-issuer",
        "iss-unexpected",
        "iss-normalized",
        "metadata-issuer-mismatch",
        "scope-step-up",
        "scope-retry-limit",
    )
)
NOT_OFFERED = {
    "elicitation-sep1034-client-defaults": "defaults: the person's own client fills them in",
    "sse-retry": "resuming a stream that was closed in the middle of a call",
    "auth/pre-registration": "a client's secret for an issuer that the server alone names",
    "auth/authorization-server-migration": "a login that moves: the person logs in again",
}
"""Scenarios that are left out, and what they want that is not done, or not on purpose."""
CHECKS_NOT_OFFERED = {
    "sep-2243-client-omit-null": "null where the schema wants a boolean is refused unsent",
}


@pytest.mark.timeout(300)
@pytest.mark.parametrize("batch", [PLAIN, LOGINS[:10], LOGINS[10:]], ids=["plain", "login", "iss"])
async def test_the_suite_finds_nothing_wrong(
    batch: tuple[tuple[str, str], ...], tmp_path: Path
) -> None:
    """In any scenario, but for the checks of what is not done."""
    wrong: list[str] = []
    turns = asyncio.Semaphore(2)

    async def one(scenario: str, version: str) -> None:
        async with turns:
            folder = tmp_path / f"{scenario.replace('/', '-')}-{version}"
            checks = await of_client(Run(release=ALPHA, chosen=()), scenario, version, folder)
        judged = {c: v for c, v in checks.items() if v in {"SUCCESS", "FAILURE"}}
        wrong.extend(
            f"{scenario} ({version}): {check}"
            for check, verdict in judged.items()
            if verdict == "FAILURE" and check not in CHECKS_NOT_OFFERED
        )
        if not judged:
            wrong.append(f"{scenario} ({version}): nothing was judged")

    async with asyncio.TaskGroup() as group:
        for scenario, version in batch:
            group.create_task(one(scenario, version))
    assert wrong == []
