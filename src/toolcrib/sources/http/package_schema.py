"""This module writes the JSON Schema of a package from the same tables that read one."""

from __future__ import annotations

from typing import Any

from toolcrib.sources.http.package_document import CONFIG_KEYS, SLUG, TYPES
from toolcrib.sources.http.rules import PACKAGE

_TEXT: dict[str, Any] = {"type": "string"}
_CONFIG: dict[str, dict[str, Any]] = {
    "url": {
        "type": "string",
        "description": "https, with {slots} of arguments and {{SECRETS}} of the vault.",
    },
    "method": {"enum": list(PACKAGE.methods), "default": "GET"},
    "headers": {"type": "object", "additionalProperties": {"type": "string"}},
    "timeout": {
        "type": "number",
        "minimum": 1,
        "maximum": PACKAGE.longest_timeout,
        "default": PACKAGE.timeout,
        "description": "Seconds.",
    },
    "static_body": {"type": "object", "description": "Fields that win over the model's."},
    "body_template": {
        "type": ["object", "array", "string"],
        "description": "The whole body. A leaf that is exactly {argument} keeps its type.",
    },
    "endpoint": {"type": "string", "description": "The MCP server's address."},
    "tool_name": {"type": "string", "description": "The tool's name at the server."},
    "input_schema": {"type": "object", "description": "The tool's own JSON Schema."},
    "command": {"type": "string", "description": "A command that the operator allows."},
    "args": {"type": "array", "items": {"type": "string"}},
    "env": {"type": "object", "additionalProperties": {"type": "string"}},
    "auth": {
        "type": "object",
        "description": "The login that the server wants.",
        "required": ["type"],
        "properties": {
            "type": {"const": "oauth2"},
            "grant": {
                "enum": ["authorization_code", "client_credentials"],
                "default": "authorization_code",
            },
            "per": {"enum": ["user", "group"], "default": "user"},
            "issuer": {"type": "string", "description": "As the issuer writes it."},
            "client_id": _TEXT,
            "client_secret": {"type": "string", "description": "A {{SECRET}} of the vault."},
            "scopes": {"type": "array", "items": _TEXT},
        },
        "additionalProperties": False,
    },
}


def package_schema() -> dict[str, Any]:
    """JSON Schema 2020-12 of what `POST /admin/tools/install` takes."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "/schemas/package.json",
        "title": "Toolcrib package",
        "type": "object",
        "required": ["slug", "name", "type", "config"],
        "properties": {
            "slug": {
                "type": "string",
                "pattern": f"^{SLUG.pattern}$",
                "description": "The tool's name. It never changes.",
            },
            "name": {"type": "string", "minLength": 1},
            "type": {"enum": list(TYPES)},
            "description": {"type": "string", "description": "Tells the model when to use it."},
            "version": {"type": "string", "default": "1.0.0"},
            "config": {"type": "object"},
            "input_schema": {
                "type": "object",
                "description": "JSON Schema of the arguments of an http package.",
                "properties": {"type": {"const": "object"}, "properties": {"type": "object"}},
            },
            "category": _TEXT,
            "icon": _TEXT,
            "author": _TEXT,
        },
        "allOf": [_config_of(kind) for kind in TYPES],
    }


def _config_of(kind: str) -> dict[str, Any]:
    required, known = CONFIG_KEYS[kind]
    config = {
        "type": "object",
        "required": list(required),
        "properties": {key: _CONFIG[key] for key in sorted(known)},
    }
    return {
        "if": {"properties": {"type": {"const": kind}}, "required": ["type"]},
        "then": {"properties": {"config": config}},
    }
