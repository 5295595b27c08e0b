"""The server's application: authentication once, then the surfaces.

`uvicorn toolcrib.asgi:create_app --factory` serves it; `toolcrib serve` does that and more.
"""

from toolcrib.asgi.creating import create_app, create_app_for

__all__ = ["create_app", "create_app_for"]
