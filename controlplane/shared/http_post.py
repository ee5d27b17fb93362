"""POST to URLs that users configured, without server-side request forgery.

A host name is resolved once, and the connection goes to the address that was checked, so DNS rebinding gains
nothing. Redirects are not followed.
"""

from __future__ import annotations

import http.client
import ipaddress
import socket
import ssl
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import SplitResult, urlsplit

from django.conf import settings

TIMEOUT_SECONDS = 10.0  # for each socket operation
TOTAL_SECONDS = 20.0  # for the complete exchange
MAX_RESPONSE_BYTES = 2_000  # enough of a response to show what went wrong
MAX_URL_LENGTH = 500
# A NAT64 gateway forwards these to the IPv4 address in their last 32 bits (RFC 6052).
NAT64 = ipaddress.ip_network("64:ff9b::/96")


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
        self.sock = _connect(self.host, self.port)


class _TLSConnection(http.client.HTTPSConnection):
    def connect(self) -> None:
        context = ssl.create_default_context()
        plain = _connect(self.host, self.port)
        self.sock = context.wrap_socket(plain, server_hostname=self.host, do_handshake_on_connect=False)


def _create_connection(parts: SplitResult) -> http.client.HTTPConnection:
    connection_class = _TLSConnection if parts.scheme == "https" else _PlainConnection
    return connection_class(parts.hostname or "", parts.port)


def _connect(host: str, port: int) -> socket.socket:
    """Connect to the first permitted address of a host name. Raise OSError or TargetError."""
    addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    permitted = [where for *_, where in addresses if settings.PRIVATE_TARGETS or is_public(str(where[0]))]
    if not permitted:
        raise TargetError(f"{host} is in a private network; ICP_PRIVATE_TARGETS=1 permits such targets.")
    return socket.create_connection((str(permitted[0][0]), port), timeout=TIMEOUT_SECONDS)


def is_public(address: str) -> bool:
    """Return whether an IP address is public, and so is any IPv4 address that it embeds.

    6to4 (2002::/16) is not: it is deprecated (RFC 7526), may lead to any IPv4 address, and Python versions
    disagree on it.
    """
    ip = ipaddress.ip_address(address.split("%", maxsplit=1)[0])
    if isinstance(ip, ipaddress.IPv6Address) and ip.sixtofour is not None:
        return False
    return all(address.is_global and not address.is_multicast for address in _reachable_addresses(ip))


def _reachable_addresses(ip: ipaddress.IPv4Address | ipaddress.IPv6Address) -> list[Any]:
    """Return the address, or the IPv4 address that an IPv6 one stands for, or both behind NAT64."""
    if isinstance(ip, ipaddress.IPv4Address):
        return [ip]
    if ip.ipv4_mapped is not None:  # ::ffff:10.0.0.1 is 10.0.0.1
        return [ip.ipv4_mapped]
    return [ip, ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)] if ip in NAT64 else [ip]
