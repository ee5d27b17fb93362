"""Nothing that a client sends, or fails to send, stalls the server for the others."""

from __future__ import annotations

import contextlib
import http.client
import resource
import socket

import pytest

from tests.live import LiveServer

ANSWER_SECONDS = 30  # loose: the server answers in milliseconds, a stalled one not at all
IN_SCOPE = {"file_path": "src/auth/login.ts", "content": "export {}\n"}


@pytest.fixture
def server(running_server):
    return running_server


@pytest.fixture(scope="module")
def tokens(running_server):
    server = running_server
    tokens = server.workspace("acme")
    server.select(tokens["agent"], "s-1")
    return tokens


def open_sockets(stack: contextlib.ExitStack, server: LiveServer, number: int, sent: bytes) -> None:
    for _ in range(number):
        connection = stack.enter_context(socket.create_connection(("127.0.0.1", server.port)))
        connection.sendall(sent)


def answers_as_usual(server: LiveServer, tokens: dict[str, str]) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=ANSWER_SECONDS)
    for path in ("/healthz", "/readyz", "/metrics", "/login/"):
        connection.request("GET", path)
        answer = connection.getresponse()
        answer.read()
        assert answer.status == 200, path
    connection.close()
    status, answer = server.gate(tokens["agent"], "s-1", "Write", timeout=ANSWER_SECONDS, **IN_SCOPE)
    assert (status, answer["decision"]) == (200, "allow")
    assert server.api(tokens["agent"], "GET", "sessions/s-1", timeout=ANSWER_SECONDS)[0] == 200


def others_are_served(server: LiveServer, tokens: dict[str, str]) -> None:
    """Ask twice: connections are taken in order, so at the second time all stalled ones have been read."""
    answers_as_usual(server, tokens)
    answers_as_usual(server, tokens)


def head(path: str, *lines: str) -> bytes:
    return "\r\n".join([f"POST {path} HTTP/1.1", "Host: 127.0.0.1", *lines, "", ""]).encode()


STALLED = {
    "a form": head("/login/", f"Cookie: csrftoken={'a' * 32}", "Content-Length: 5000") + b"csrf",
    "a call without a token": head("/api/v1/gate", "Content-Type: application/json", "Content-Length: 5000"),
    "mcp": head("/mcp", "Content-Type: application/json", "Content-Length: 5000") + b"{",
    "chunks": head("/api/v1/sessions", "Transfer-Encoding: chunked") + b"5\r\nab",
}
WITH_TOKEN = {
    "a call": ("/api/v1/gate", "Content-Type: application/json", "Content-Length: 5000"),
    "a hook": ("/hooks/claude-code/PreToolUse", "Content-Type: application/json", "Content-Length: 5000"),
    "a report": ("/hooks/claude-code/PostToolUse", "Content-Type: application/json", "Content-Length: 5000"),
    "a session": ("/api/v1/sessions", "Content-Type: application/json", "Content-Length: 5000"),
    "an import": ("/api/v1/traces/import", "Content-Type: application/x-ndjson", "Content-Length: 90000"),
}


@pytest.mark.parametrize("sent", STALLED.values(), ids=STALLED)
def test_slow_bodies_stall_nobody(server, tokens, sent):
    with contextlib.ExitStack() as stack:
        open_sockets(stack, server, 200, sent)
        others_are_served(server, tokens)


@pytest.mark.parametrize("lines", WITH_TOKEN.values(), ids=WITH_TOKEN)
def test_slow_bodies_of_a_token_stall_nobody(server, tokens, lines):
    with contextlib.ExitStack() as stack:
        sent = head(*lines, f"Authorization: Bearer {tokens['agent']}") + b"{"
        open_sockets(stack, server, 200, sent)
        others_are_served(server, tokens)


@pytest.fixture
def many_sockets():
    """Let this process open what the machine allows: the usual soft limit is 1,024."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.usefixtures("many_sockets")
def test_a_thousand_half_open_connections_stall_nobody(server, tokens):
    with contextlib.ExitStack() as stack:
        open_sockets(stack, server, 1000, b"POST /api/v1/gate HTTP/1.1\r\nHost: 127.")
        others_are_served(server, tokens)


def test_clients_that_do_not_read_their_answers_stall_nobody(server, tokens):
    with contextlib.ExitStack() as stack:
        get = b"GET /static/htmx.js HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" * 50
        schema = b"GET /api/v1/schema HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" * 20
        open_sockets(stack, server, 20, get)
        open_sockets(stack, server, 4, schema)
        answers_as_usual(server, tokens)
