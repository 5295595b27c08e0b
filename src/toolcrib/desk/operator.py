"""This module makes the caller that stands for the operator at the command line."""

from __future__ import annotations

from toolcrib.identity.caller import Caller
from toolcrib.identity.roles import Role

OPERATOR_ID = 1
"""The first user, whom an empty installation starts with."""


def operator() -> Caller:
    """Whoever can open the database is the installation's first super-admin."""
    return Caller(user_id=OPERATOR_ID, role=Role.SUPER_ADMIN)
