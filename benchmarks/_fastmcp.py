"""FastMCP's server of the benchmark's endpoint, made from an OpenAPI document of it."""

from __future__ import annotations

import os

import httpx2
from fastmcp import FastMCP

ARGUMENTS = [
    {"name": "city", "in": "query", "required": True, "schema": {"type": "string"}},
    {"name": "n", "in": "query", "required": True, "schema": {"type": "integer"}},
]
DOCUMENT = {
    "openapi": "3.1.0",
    "info": {"title": "echo", "version": "1"},
    "paths": {
        "/echo": {
            "get": {
                "operationId": "get_echo",
                "parameters": ARGUMENTS,
                "responses": {"200": {"description": "The echo."}},
            }
        }
    },
}
client = httpx2.AsyncClient(base_url=f"http://{os.environ['UPSTREAM']}")
app = FastMCP.from_openapi(openapi_spec=DOCUMENT, client=client, name="echo").http_app()
