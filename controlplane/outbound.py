"""Posting to addresses that people of a workspace have chosen, and never into the server's own network.

The name is resolved once, every address it has must be public (`ICP_ALLOW_PRIVATE_TARGETS` lifts that), and
the connection goes to the address that was looked at. Redirects are not followed, proxies not asked.
"""

from __future__ import annotations

import http.client
import ipaddress
import socket
import ssl
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

from django.conf import settings

URL_MOST = 1000
SILENCE_SECONDS = 10.0  # of one step: connecting, sending, waiting
DEADLINE_SECONDS = 20.0  # of everything after the name is resolved
ANSWER_MOST = 200  # bytes of an answer that are kept
NAT64 = ipaddress.ip_network("64:ff9b::/96")

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


class OutboundError(Exception):
    """The post was not made, or nobody answered; the message is for the people of the workspace."""


@dataclass(frozen=True, slots=True)
class Answer:
    """`text` is the beginning of the body, hostile."""

    status: int
    text: str

    @property
    def accepted(self) -> bool:
        return 200 <= self.status < 300


def check_url(url: str) -> SplitResult:
    """The parts of an address that may be posted to, as far as its text tells. Raises OutboundError."""
    schemes = {"https", "http"} if settings.ALLOW_PRIVATE_TARGETS else {"https"}
    if len(url) > URL_MOST or not url.isascii() or not url.isprintable() or " " in url:
        raise OutboundError(f"An address has at most {URL_MOST} printable ASCII characters.")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise OutboundError(f"This is no address: {error}.") from error
    if parts.scheme not in schemes or not parts.hostname or port == 0:
        raise OutboundError("An address begins with https:// and a host name.")
    if parts.username is not None or parts.password is not None:
        raise OutboundError("An address carries no user name and no password.")
    return parts


def post(url: str, body: bytes, headers: Mapping[str, str]) -> Answer:
    """Post once and read the beginning of the answer. Raises OutboundError."""
    parts = check_url(url)
    connection = _Pinned(parts, _public_address(parts))
    deadline = threading.Timer(DEADLINE_SECONDS, connection.cut)
    deadline.daemon = True
    deadline.start()
    path = f"{parts.path or '/'}?{parts.query}" if parts.query else parts.path or "/"
    try:
        connection.request("POST", path, body, dict(headers))
        response = connection.getresponse()
        text = response.read(ANSWER_MOST).decode("utf-8", "replace")
    except ssl.SSLCertVerificationError as error:
        raise OutboundError(f"Its certificate is not trusted: {error.verify_message}.") from error
    except (OSError, http.client.HTTPException) as error:
        raise OutboundError(f"It did not answer: {error or type(error).__name__}.") from error
    finally:
        deadline.cancel()
        connection.close()
    if connection.was_cut:
        raise OutboundError(f"It did not answer within {DEADLINE_SECONDS:.0f} seconds.")
    return Answer(response.status, text)


class _Pinned(http.client.HTTPConnection):
    """Speaks to the address that was looked at, whatever the name resolves to by now."""

    def __init__(self, parts: SplitResult, address: str) -> None:
        self.secure = parts.scheme == "https"
        self.default_port = 443 if self.secure else 80
        super().__init__(parts.hostname or "", parts.port or self.default_port, timeout=SILENCE_SECONDS)
        self.address = address
        self.was_cut = False

    def connect(self) -> None:
        self.sock = socket.create_connection((self.address, self.port), SILENCE_SECONDS)
        if self.secure:
            trust = ssl.create_default_context()
            self.sock = trust.wrap_socket(self.sock, server_hostname=self.host, do_handshake_on_connect=False)
            self.sock.do_handshake()

    def cut(self) -> None:
        """End whatever goes on, from another thread; an answer that ends so may look whole."""
        self.was_cut = True
        with suppress(OSError):
            if self.sock is not None:
                self.sock.shutdown(socket.SHUT_RDWR)


def _public_address(parts: SplitResult) -> str:
    host, port = parts.hostname or "", parts.port or 443
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise OutboundError(f"{host} cannot be resolved.") from error
    addresses = [str(one[4][0]) for one in found]
    if not settings.ALLOW_PRIVATE_TARGETS and not all(map(is_public, addresses)):
        raise OutboundError(f"{host} leads into a private network; ICP_ALLOW_PRIVATE_TARGETS permits that.")
    return addresses[0]


def is_public(text: str) -> bool:
    """Whether an address, and what it may carry inside, belongs to the public internet."""
    return all(one.is_global and not one.is_multicast for one in _meant(ipaddress.ip_address(text)))


def _meant(address: Address) -> list[Address]:
    """The address, and the IPv4 addresses that IPv6 gateways would make of it."""
    if isinstance(address, ipaddress.IPv4Address):
        return [address]
    if address.ipv4_mapped is not None:
        return [address.ipv4_mapped]
    inner: list[Address] = [address]
    if address.sixtofour is not None:
        inner.append(address.sixtofour)
    if address.teredo is not None:
        inner.extend(address.teredo)
    if address in NAT64:
        inner.append(ipaddress.IPv4Address(int(address) & 0xFFFFFFFF))
    return inner
