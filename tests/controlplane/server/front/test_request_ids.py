"""Every answer carries the id under which the log names its request."""

from __future__ import annotations

import http.client
import json

import pytest

from controlplane.server.front.fair_queue import Payer
from controlplane.server.front.lane import Job
from controlplane.server.request_id import current_request_id
from tests.test_outages import eventually


def ask(server, method: str, path: str, token: str = "", given: str = "") -> http.client.HTTPResponse:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {token}"}
    if given:
        headers["X-Request-Id"] = given
    connection.request(method, path, json.dumps({}) if method == "POST" else None, headers)
    return connection.getresponse()


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/healthz"),
        ("GET", "/login/"),
        ("GET", "/static/none.css"),
        ("POST", "/api/v1/gate"),
        ("POST", "/hooks/claude-code/PreToolUse"),
        ("POST", "/mcp"),
        ("GET", "/api/v1/sessions"),
    ],
)
def test_every_answer_has_an_id_of_its_own(running_server, method, path):
    first, second = (ask(running_server, method, path).headers.get_all("X-Request-Id") for _ in range(2))
    assert len(first) == 1
    assert len(first[0]) == 16
    assert first != second


@pytest.mark.parametrize(
    ("given", "is_taken"), [("proxy-7f.3", True), ("a b", False), ("x" * 65, False), ("<script>", False)]
)
def test_the_id_of_the_proxy_is_taken_where_it_is_well_formed(running_server, given, is_taken):
    answer = ask(running_server, "GET", "/healthz", given=given)
    assert (answer.headers["X-Request-Id"] == given) is is_taken


def test_the_log_names_the_request_by_the_id_of_its_answer(running_server):
    """Of records of a kind one a second is logged, so ask until it is this one."""

    def is_named() -> bool:
        request_id = ask(running_server, "GET", "/nowhere").headers["X-Request-Id"]
        return f"[{request_id}]" in running_server.log.read_text()

    eventually(is_named, 30)


async def test_a_lane_works_under_the_id_of_the_call():
    """The thread of a lane serves many calls: each step runs under the id of its own."""
    ids = []

    def steps():
        ids.append(current_request_id.get())
        yield from ()

    for given in ("call-1", "call-2"):
        current_request_id.set(given)
        job = Job(Payer(1, 1), steps, None)
        current_request_id.set("another")
        job.advance()
    assert ids == ["call-1", "call-2"]
