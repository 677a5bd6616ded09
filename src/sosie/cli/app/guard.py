"""Who may ask: this machine's browser that was given the address, and nobody else.

Refused: any other Host (400), requests without the cookie (403), from another site (403), posts
whose Origin is not ours (403), and methods that nobody needs (405).
"""

from __future__ import annotations

import secrets
from collections.abc import Collection
from dataclasses import dataclass, field

from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["PAGE_POLICY", "REPORT_POLICY", "Guard", "Keys"]

PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self';"
    " frame-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
REPORT_POLICY = "sandbox allow-scripts allow-downloads; frame-ancestors 'self'"
"""The report's own policy, inside it, allows its scripts by their hash and no request. In a sandbox
of its own origin it can't reach the page either."""

HEADERS = {
    "Content-Security-Policy": PAGE_POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",  # with less, browsers send no Origin
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
ENTERED = (
    '<!doctype html><html lang="en"><meta charset="utf-8"><title>sosie</title>'
    '<meta http-equiv="refresh" content="0;url=/"><p><a href="/">sosie</a></p></html>'
)
"""A strict cookie is not sent with a redirect that began elsewhere; it is with a step from here."""


@dataclass(frozen=True)
class Keys:
    """What opens the page.

    Attributes
    ----------
    hosts : values of the Host header that are ours, with the port.
    port : of the address; in the name of the cookie, which all ports of a host share.
    token : in the address that is printed.
    session : in the cookie.
    """

    hosts: Collection[str]
    port: int
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)
    session: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)

    @classmethod
    def of(cls, port: int) -> Keys:
        """New keys for the loopback addresses."""
        return cls((f"127.0.0.1:{port}", f"[::1]:{port}"), port)

    @property
    def cookie(self) -> str:
        """Its name."""
        return f"sosie-{self.port}"

    @property
    def address(self) -> str:
        """What a browser opens."""
        return f"http://127.0.0.1:{self.port}/?token={self.token}"


@dataclass(frozen=True)
class Guard:
    """Stands before the application: refuses, or lets through with strict headers."""

    app: ASGIApp
    keys: Keys

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or let the application answer."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        answer = self._answer(Request(scope)) or self.app

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                names = {name.lower() for name, _ in message["headers"]}
                message["headers"] = [
                    *message["headers"],
                    *(
                        (name.lower().encode(), text.encode())
                        for name, text in HEADERS.items()
                        if name.lower().encode() not in names
                    ),
                ]
            await send(message)

        await answer(scope, receive, guarded)

    def _answer(self, request: Request) -> Response | None:
        """A refusal, or the entrance; None where the application is to answer."""
        hosts = request.headers.getlist("host")
        if len(hosts) != 1 or hosts[0] not in self.keys.hosts:
            return PlainTextResponse("400: this address is not served here", 400)
        if request.method not in ("GET", "HEAD", "POST"):
            return PlainTextResponse("405: not allowed", 405)
        token = request.query_params.get("token")
        if token is not None and request.url.path == "/" and request.method == "GET":
            return self._entrance(token)
        session = request.cookies.get(self.keys.cookie, "")
        if not secrets.compare_digest(session.encode(), self.keys.session.encode()):
            return PlainTextResponse("403: open the address that sosie app has printed", 403)
        if request.headers.get("sec-fetch-site") in ("cross-site", "same-site"):
            return PlainTextResponse("403: asked for by another site", 403)
        ours = [f"http://{hosts[0]}"]
        if request.method == "POST" and request.headers.getlist("origin") != ours:
            return PlainTextResponse("403: sent by another site", 403)
        return None

    def _entrance(self, token: str) -> Response:
        if not secrets.compare_digest(token.encode(), self.keys.token.encode()):
            return PlainTextResponse("403: open the address that sosie app has printed", 403)
        response = HTMLResponse(ENTERED)
        response.set_cookie(self.keys.cookie, self.keys.session, httponly=True, samesite="strict")
        return response
