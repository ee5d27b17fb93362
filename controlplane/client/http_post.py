"""One POST to the control plane, HTTP/1.1 by hand: importing `http.client` takes 20 ms at every tool call."""

from __future__ import annotations

from controlplane.client.connection import ControlPlaneError
from controlplane.client.fast_json import parse_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

DECISION_HEADER = "x-icp-decision"


def post(
    url: str, token: str, body: bytes, seconds: float, extra_headers: str = ""
) -> tuple[dict[str, Any], str]:
    """Return the JSON object of a 200 and its decision header. Raise ControlPlaneError.

    `extra_headers` are complete lines, each with its CRLF.
    """
    scheme, _, rest = url.partition("://")
    host, slash, path = rest.partition("/")
    if any(ord(sign) < 33 for sign in token + url) or scheme not in {"http", "https"}:
        raise ControlPlaneError("The address or the token of the control plane is malformed: connect again.")
    head = (
        f"POST {slash}{path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\nConnection: close\r\n"
        f"{extra_headers}\r\n"
    )
    try:
        status, headers, content = parse_response(exchange_bytes(scheme, host, head.encode() + body, seconds))
        answer = parse_json(content)
    except OSError as error:
        raise ControlPlaneError(f"The control plane at {host} cannot be reached ({error}).") from error
    except (ValueError, IndexError) as error:
        raise ControlPlaneError(f"What answers at {host} is not the control plane ({error}).") from error
    if status != "200" or not isinstance(answer, dict):
        message = answer.get("error") if isinstance(answer, dict) else ""
        raise ControlPlaneError(f"The control plane answered {status}. {message or ''}".rstrip())
    return answer, headers.get(DECISION_HEADER, "")


def exchange_bytes(scheme: str, host: str, request: bytes, seconds: float) -> bytes:
    """Send a request and read until the server closes the connection."""
    socket_module = __import__(
        "socket" if scheme == "https" else "_socket"
    )  # importing `socket` takes 3 ms more
    name, _, port = host.rpartition(":") if host.rpartition(":")[2].isdigit() else (host, "", "")
    name, port = name.strip("[]"), port or ("443" if scheme == "https" else "80")
    sock = open_socket(socket_module, name.encode(), int(port), seconds)
    if scheme == "https":
        import ssl

        sock = ssl.create_default_context().wrap_socket(sock, server_hostname=name)
    sock.sendall(request)
    chunks = []
    while chunk := sock.recv(65536):
        chunks.append(chunk)
    return b"".join(chunks)


def open_socket(socket_module: Any, name: bytes, port: int, seconds: float) -> Any:
    """Connect to the first address that accepts: `localhost` may have two. Raise OSError."""
    problem = OSError("no address")
    for family, kind, protocol, _, address in socket_module.getaddrinfo(
        name, port, 0, socket_module.SOCK_STREAM
    ):
        sock = socket_module.socket(family, kind, protocol)
        sock.settimeout(seconds)
        try:
            sock.connect(address)
        except OSError as error:
            sock.close()
            problem = error
        else:
            return sock
    raise problem


def parse_response(raw: bytes) -> tuple[str, dict[str, str], bytes]:
    """Return (status, headers by lower-case name, body). Raise ValueError for an incomplete body."""
    head, _, body = raw.partition(b"\r\n\r\n")
    status_line, *lines = head.decode("latin-1").split("\r\n")
    headers = {name.strip().lower(): value.strip() for name, _, value in (x.partition(":") for x in lines)}
    if headers.get("transfer-encoding", "").lower() == "chunked":
        body = decode_chunked(body)
    elif len(body) != int(headers.get("content-length", len(body))):
        raise ValueError("its answer is cut off")
    return status_line.split(" ")[1], headers, body


def decode_chunked(body: bytes) -> bytes:
    parts: list[bytes] = []
    while True:
        size, _, body = body.partition(b"\r\n")
        length = int(size.split(b";")[0], 16)
        if length == 0:
            return b"".join(parts)
        if len(body) < length + 2:
            raise ValueError("its answer is cut off")
        parts.append(body[:length])
        body = body[length + 2 :]
