"""This module names the three roles."""

from __future__ import annotations

from enum import StrEnum


class Role(StrEnum):
    """What a user may administer."""

    SUPER_ADMIN = "super_admin"
    """The installation and every group in it."""
    ADMIN = "admin"
    """The groups the user belongs to."""
    USER = "user"
    """Only what is the user's own."""
