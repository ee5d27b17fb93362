"""Posting to addresses that people typed in, without becoming a way into the network the server stands in.

A name is looked up once and the connection goes to the very address that was judged, so a name that
answers differently the second time gains nothing. Redirects are answers like any other.
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

TIMEOUT_SECONDS = 10.0  # for each step
TOTAL_SECONDS = 20.0  # for all of it
MAX_RESPONSE_BYTES = 2_000  # bytes of an answer that are read: enough to show what went wrong
MAX_URL_LENGTH = 500
NAT64 = ipaddress.ip_network("64:ff9b::/96")


class TargetError(Exception):
    """Why nothing was posted, or no answer came; the text is for the people who set the target."""


@dataclass(frozen=True, slots=True)
class PostResponse:
    status: int
    text: str

    @property
    def is_success(self) -> bool:
        return 200 <= self.status < 300


def check_url(url: str) -> SplitResult:
    """The parts of an address that may be posted to. Raises TargetError; looks nothing up."""
    if len(url) > MAX_URL_LENGTH or not url.isascii() or not url.isprintable() or " " in url:
        raise TargetError(f"An address has at most {MAX_URL_LENGTH} characters, ASCII without blanks.")
    try:
        parts = urlsplit(url)
        port_is_readable = parts.port != 0
    except ValueError:
        port_is_readable = False
    if not port_is_readable or not parts.hostname:
        raise TargetError("This is no address; it looks like https://hooks.example.org/path.")
    if parts.username is not None or parts.password is not None:
        raise TargetError("Leave name and password out of the address.")
    if parts.scheme != "https" and not (parts.scheme == "http" and settings.PRIVATE_TARGETS):
        raise TargetError("The address must begin with https:// (ICP_PRIVATE_TARGETS permits http://).")
    return parts


def post(url: str, body: bytes, headers: Mapping[str, str]) -> PostResponse:
    """Post once and read the beginning of the answer, whatever its status. Raises TargetError."""
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
            text = response.read(MAX_RESPONSE_BYTES).decode("utf-8", "replace")
        if expired.is_set():  # headers that end where the line was cut look whole
            raise TimeoutError(f"it took longer than {TOTAL_SECONDS:.0f} seconds")
        return PostResponse(response.status, text)
    except (OSError, http.client.HTTPException) as error:
        raise TargetError(f"{parts.hostname} did not answer: {error or type(error).__name__}") from error
    finally:
        connection.close()


@contextmanager
def _deadline(sock: socket.socket) -> Iterator[threading.Event]:
    """Hang up on whoever answers a byte at a time: each would come within the socket's own timeout."""
    expired = threading.Event()

    def hang_up() -> None:
        expired.set()
        with suppress(OSError):
            socket.socket.shutdown(sock, socket.SHUT_RDWR)  # TLS has its own, which waits for the other side

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
    """A connection to the first address of a name that is permitted. Raises OSError or TargetError."""
    addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    permitted = [where for *_, where in addresses if settings.PRIVATE_TARGETS or is_public(str(where[0]))]
    if not permitted:
        raise TargetError(
            f"{host} is an address inside a private network; ICP_PRIVATE_TARGETS=1 permits such."
        )
    return socket.create_connection((str(permitted[0][0]), port), timeout=TIMEOUT_SECONDS)


def is_public(address: str) -> bool:
    """Whether an IP address is one of the open internet.

    6to4 (2002::/16) counts as none: it was given up (RFC 7526), may lead to any IPv4 address, and versions of
    Python differ on it.
    """
    ip = ipaddress.ip_address(address.split("%", maxsplit=1)[0])
    if isinstance(ip, ipaddress.IPv6Address) and ip.sixtofour is not None:
        return False
    return all(one.is_global and not one.is_multicast for one in _reachable_addresses(ip))


def _reachable_addresses(ip: ipaddress.IPv4Address | ipaddress.IPv6Address) -> list[Any]:
    """The address, and the IPv4 address that a gateway would make of an IPv6 one."""
    if isinstance(ip, ipaddress.IPv4Address):
        return [ip]
    if ip.ipv4_mapped is not None:  # ::ffff:10.0.0.1 is 10.0.0.1
        return [ip.ipv4_mapped]
    return [ip, ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)] if ip in NAT64 else [ip]
