"""This module writes the pages that people see on their way through a login.

They have neither script nor style, for the policy of every answer forbids both.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from html import escape

from fastapi import Response

from toolcrib.desk.login_pages import Asked, Waiting
from toolcrib.sources.oauth.registering import NAME

_HEADERS = {"Referrer-Policy": "same-origin"}
"""Without a referrer browsers hide the origin of what their forms send, and it would be refused."""


def asking(asked: Asked) -> Response:
    """What somebody would agree to, before they log in."""
    who, where = escape(asked.whose), escape(asked.server)
    beginner = escape(asked.beginner)
    others = "everybody in it" if asked.is_group else "they"
    body = (
        f"<p>If you go on and log in at <strong>{escape(asked.login)}</strong>, {NAME} connects "
        f"<strong>your</strong> account at <strong>{where}</strong> for <strong>{who}</strong>: "
        f"{others} can then act there as you.</p>"
        f"<dl><dt>Connects for</dt><dd>{who}</dd><dt>Begun by</dt><dd>{beginner}</dd>"
        f"<dt>Server</dt><dd>{where}, called “{escape(asked.label)}” here</dd>"
        f"<dt>You log in at</dt><dd>{escape(asked.login)}</dd>"
        f"<dt>Asks for</dt><dd>{escape(', '.join(asked.scopes)) or 'what the server gives'}</dd>"
        "</dl>"
        f"<p><strong>Go on only if you are {beginner} and began this yourself a moment ago."
        "</strong> Did somebody send you this address? Then deny: they would get to use your "
        "account.</p>"
        f"{_button(f'{asked.ticket}/deny', 'Deny')}"
        f"{_button(f'{asked.ticket}/continue', f'Go on to {asked.login}')}"
    )
    return page(f"Connect {asked.label}?", body, headers=_HEADERS)


def code(waiting: Waiting, *, now: datetime) -> Response:
    """The login came back: its code, and what to think of before giving it to anybody."""
    asked = waiting.asked
    minutes = max(1, round((waiting.until - now).total_seconds() / 60))
    who, where = escape(asked.whose), escape(asked.server)
    body = (
        f"<p>Nothing is connected yet. To connect <strong>your</strong> account at "
        f"<strong>{where}</strong> for <strong>{who}</strong>, type this code where you began the "
        f"login:</p><p><strong><code>{escape(waiting.code)}</code></strong></p>"
        f"<p>It is good for {minutes} minutes. <strong>Give it to nobody:</strong> who has it and "
        "began the login can act as you. Did you not begin it yourself, or does somebody ask you "
        "for the code? Then deny.</p>"
        f"{_button(f'login/{asked.ticket}/deny', 'Deny')}"
    )
    policy = "default-src 'none'; frame-ancestors 'none'; form-action 'self'"
    return page("Almost connected", body, headers={**_HEADERS, "Content-Security-Policy": policy})


def told(title: str, words: str, *, status: int = 200) -> Response:
    """A sentence, and nothing to do."""
    return page(title, f"<p>{escape(words)}</p>", status=status)


def page(
    title: str, body: str, *, status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    """`body` is HTML already, `title` is not."""
    text = (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title></head>"
        f"<body><main><h1>{escape(title)}</h1>{body}</main></body></html>"
    )
    return Response(text, status, headers, media_type="text/html; charset=utf-8")


def _button(action: str, words: str) -> str:
    """`action` is relative to the page: the server need not know below which path it is."""
    return (
        f'<form method="post" action="{escape(action)}">'
        f"<p><button>{escape(words)}</button></p></form>"
    )
