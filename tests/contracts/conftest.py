"""This module lends these tests the databases."""

from tests.contracts.databases import (
    databases,
    empty_url,
    people,
    postgres_databases,
    sqlite_files,
    storage,
    storage_url,
)

__all__ = [
    "databases",
    "empty_url",
    "people",
    "postgres_databases",
    "sqlite_files",
    "storage",
    "storage_url",
]
