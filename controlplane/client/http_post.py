"""One POST to the control plane. HTTP/1.1 by hand, because `http.client` costs 20 ms at every call."""

from __future__ import annotations

import json

from controlplane.client.call_context import CannotAskError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

GATE_HEADER = "x-icp-decision"


def post(url: str, token: str, body: bytes, seconds: float, more: str = "") -> tuple[dict[str, Any], str]:
    """The JSON object of a 200, and its decision header. `more` are whole header lines."""
    scheme, _, rest = url.partition("://")
    host, slash, path = rest.partition("/")
    if any(ord(sign) < 33 for sign in token + url) or scheme not in {"http", "https"}:
        raise CannotAskError("The address or the token of the control plane is malformed: connect again.")
    head = (
        f"POST {slash}{path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\nConnection: close\r\n{more}\r\n"
    )
    try:
        status, headers, content = read_answer(exchange(scheme, host, head.encode() + body, seconds))
        answer = json.loads(content)
    except OSError as error:
        raise CannotAskError(f"The control plane at {host} cannot be reached ({error}).") from error
    except (ValueError, IndexError) as error:
        raise CannotAskError(f"What answers at {host} is not the control plane ({error}).") from error
    if status != "200" or not isinstance(answer, dict):
        said = answer.get("error") if isinstance(answer, dict) else ""
        raise CannotAskError(f"The control plane answered {status}. {said or ''}".rstrip())
    return answer, headers.get(GATE_HEADER, "")


def exchange(scheme: str, host: str, request: bytes, seconds: float) -> bytes:
    """Send, and read until the server closes."""
    net = __import__("socket" if scheme == "https" else "_socket")  # which saves 3 ms
    name, _, port = host.rpartition(":") if host.rpartition(":")[2].isdigit() else (host, "", "")
    name, port = name.strip("[]"), port or ("443" if scheme == "https" else "80")
    line = connected(net, name.encode(), int(port), seconds)
    if scheme == "https":
        import ssl

        line = ssl.create_default_context().wrap_socket(line, server_hostname=name)
    line.sendall(request)
    chunks = []
    while chunk := line.recv(65536):
        chunks.append(chunk)
    return b"".join(chunks)


def connected(net: Any, name: bytes, port: int, seconds: float) -> Any:
    """A socket to the first address that takes the connection: `localhost` may have two."""
    problem = OSError("no address")
    for family, kind, protocol, _, address in net.getaddrinfo(name, port, 0, net.SOCK_STREAM):
        line = net.socket(family, kind, protocol)
        line.settimeout(seconds)
        try:
            line.connect(address)
        except OSError as error:
            line.close()
            problem = error
        else:
            return line
    raise problem


def read_answer(raw: bytes) -> tuple[str, dict[str, str], bytes]:
    """(status, headers by lower-case name, body). ValueError for a body that is not whole."""
    head, _, body = raw.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    headers = {name.strip().lower(): value.strip() for name, _, value in (x.partition(":") for x in lines)}
    if headers.get("transfer-encoding", "").lower() == "chunked":
        body = unchunked(body)
    elif len(body) != int(headers.get("content-length", len(body))):
        raise ValueError("its answer is cut off")
    return first.split(" ")[1], headers, body


def unchunked(body: bytes) -> bytes:
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
