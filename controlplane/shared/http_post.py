"""POST to URLs that users configured, without server-side request forgery.

A host name is resolved once, and the connection goes to the address that was checked, so DNS rebinding gains
nothing. Redirects are not followed. Plain http goes only to private addresses that the operator permits.
"""

from __future__ import annotations

import http.client
import socket
import ssl
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

from django.conf import settings

from controlplane.shared.target_networks import is_permitted, is_public

TIMEOUT_SECONDS = 10.0  # for each socket operation
TOTAL_SECONDS = 20.0  # for the complete exchange
MAX_RESPONSE_BYTES = 2_000  # enough of a response to show what went wrong
MAX_URL_LENGTH = 500


class TargetError(Exception):
    """Nothing was posted, or no response came; the message is for whoever configured the target."""


@dataclass(frozen=True, slots=True)
class PostResponse:
    status: int
    text: str
    content: bytes = b""

    @property
    def is_success(self) -> bool:
        return 200 <= self.status < 300


def check_url(url: str) -> SplitResult:
    """Return the parts of a URL that may be posted to. Raise TargetError. Makes no DNS query."""
    if len(url) > MAX_URL_LENGTH or not url.isascii() or not url.isprintable() or " " in url:
        raise TargetError(f"A URL has at most {MAX_URL_LENGTH} ASCII characters and no spaces.")
    try:
        parts = urlsplit(url)
        port_is_readable = parts.port != 0
    except ValueError:
        port_is_readable = False
    if not port_is_readable or not parts.hostname:
        raise TargetError("Not a URL. Write one like https://hooks.example.org/path.")
    if parts.username is not None or parts.password is not None:
        raise TargetError("Remove the user name and password from the URL.")
    if parts.scheme != "https" and not (parts.scheme == "http" and settings.PRIVATE_TARGETS):
        raise TargetError("The URL must begin with https:// (ICP_PRIVATE_TARGETS permits http://).")
    return parts


def post(
    url: str, body: bytes, headers: Mapping[str, str], *, max_bytes: int = MAX_RESPONSE_BYTES
) -> PostResponse:
    """Post once and read the beginning of the response, whatever its status. Raise TargetError."""
    parts = check_url(url)
    connection = _create_connection(parts)
    path = parts.path or "/"
    try:
        connection.connect()
        with _deadline(connection.sock) as expired:
            if isinstance(connection.sock, ssl.SSLSocket):
                connection.sock.do_handshake()
            connection.request("POST", f"{path}?{parts.query}" if parts.query else path, body, dict(headers))
            response = connection.getresponse()
            content = response.read(max_bytes)
        if expired.is_set():  # cut-off headers still parse as a response
            raise TimeoutError(f"it took longer than {TOTAL_SECONDS:.0f} seconds")
        return PostResponse(response.status, content.decode("utf-8", "replace"), content)
    except (OSError, http.client.HTTPException) as error:
        raise TargetError(f"{parts.hostname} did not answer: {error or type(error).__name__}") from error
    finally:
        connection.close()


@contextmanager
def _deadline(sock: socket.socket) -> Iterator[threading.Event]:
    """Close the socket after TOTAL_SECONDS: a server that sends a byte at a time never meets its timeout."""
    expired = threading.Event()

    def hang_up() -> None:
        expired.set()
        with suppress(OSError):
            socket.socket.shutdown(sock, socket.SHUT_RDWR)  # SSLSocket.shutdown would wait for the peer

    timer = threading.Timer(TOTAL_SECONDS, hang_up)
    timer.daemon = True
    timer.start()
    try:
        yield expired
    finally:
        timer.cancel()


class _PlainConnection(http.client.HTTPConnection):
    def connect(self) -> None:
        self.sock = _connect(self.host, self.port, is_encrypted=False)


class _TLSConnection(http.client.HTTPSConnection):
    def connect(self) -> None:
        context = ssl.create_default_context()
        plain = _connect(self.host, self.port, is_encrypted=True)
        self.sock = context.wrap_socket(plain, server_hostname=self.host, do_handshake_on_connect=False)


def _create_connection(parts: SplitResult) -> http.client.HTTPConnection:
    connection_class = _TLSConnection if parts.scheme == "https" else _PlainConnection
    return connection_class(parts.hostname or "", parts.port)


def _connect(host: str, port: int, *, is_encrypted: bool) -> socket.socket:
    """Connect to the first permitted address of a host name. Raise OSError or TargetError."""
    found = [str(where[0]) for *_, where in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]
    permitted = [
        address
        for address in found
        if is_permitted(address, settings.PRIVATE_TARGETS) or (is_encrypted and is_public(address))
    ]
    if permitted:
        return socket.create_connection((permitted[0], port), timeout=TIMEOUT_SECONDS)
    if any(map(is_public, found)):
        raise TargetError(f"{host} is outside of your own networks, so its URL must begin with https://.")
    raise TargetError(
        f"{host} is in a private network that ICP_PRIVATE_TARGETS does not name; the operator may add it."
    )
