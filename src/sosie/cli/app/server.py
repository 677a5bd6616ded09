"""Loopback sockets, a server on them, and a browser that opens the page."""

from __future__ import annotations

import socket
import sys
import threading
import webbrowser
from collections.abc import Callable
from contextlib import suppress

import uvicorn
from starlette.types import ASGIApp

from sosie.errors import InputError

__all__ = ["Server", "sockets"]

WAITING = 128
"""Connections that may wait to be taken."""


class Server(uvicorn.Server):
    """A server that says when it listens.

    Parameters
    ----------
    app : what answers.
    listening : called once the sockets take connections.
    """

    def __init__(self, app: ASGIApp, listening: Callable[[], None]) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                log_config=None,
                access_log=False,
                lifespan="off",
                ws="none",
                server_header=False,
                proxy_headers=False,
                timeout_graceful_shutdown=2,
            )
        )
        self._listening = listening

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to listen."""
        await super().startup(sockets)
        if self.started:
            self._listening()


def sockets(port: int) -> list[socket.socket]:
    """Sockets on 127.0.0.1 and, where there is one, ::1, both on one port.

    Parameters
    ----------
    port : 0 for one that is free.

    Raises
    ------
    InputError
        The port is taken, or may not be used.
    """
    try:
        first = _bound(socket.AF_INET, "127.0.0.1", port)
    except (OSError, OverflowError) as error:
        raise InputError(f"port {port} can't be used ({error}); leave --port out") from error
    bound = [first]
    with suppress(OSError):  # no IPv6 here, or the port is another's there
        bound.append(_bound(socket.AF_INET6, "::1", first.getsockname()[1]))
    return bound


def _bound(family: socket.AddressFamily, address: str, port: int) -> socket.socket:
    made = socket.socket(family, socket.SOCK_STREAM)
    try:
        if sys.platform != "win32":  # there, it would let others take the same port
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind((address, port))
        made.listen(WAITING)
    except BaseException:
        made.close()
        raise
    return made


def opened(address: str) -> None:
    """Open a browser, without waiting for it."""
    threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
