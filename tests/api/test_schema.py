"""The whole API against its own OpenAPI document: no 500, nothing undocumented, whatever is sent."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.live import LiveServer

pytestmark = pytest.mark.deep

EXAMPLES = int(os.environ.get("ICP_SCHEMA_EXAMPLES", "15"))
CHECKS = (not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance)
DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "openapi.yaml"
ACTING = ("/sessions", "/gate")  # an agent's own calls; the rest is asked with an admin's token


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    live = LiveServer(tmp_path_factory.mktemp("schema"))
    live.start()
    yield live
    live.close()


@pytest.fixture(scope="module")
def tokens(server):
    """A workspace with an intent, a session and an approval, so that some random calls find something."""
    made = server.workspace("fuzzed")
    server.select(made["agent"], "1")
    server.gate(made["agent"], "1", "Write", file_path="docs/a.md", content="x")
    return made


schema = schemathesis.openapi.from_path(DOCUMENT)


@schema.parametrize()
@settings(max_examples=EXAMPLES, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
def test_every_operation_answers_as_documented(case, server, tokens):
    acting = any(part in case.operation.path for part in ACTING) and case.method != "GET"
    token = tokens["agent" if acting else "admin"]
    for part in (case.query, case.body):
        if isinstance(part, dict):
            part.pop("wait_seconds", None)  # waiting has tests of its own
    case.call_and_validate(base_url=server.url, headers={"Authorization": f"Bearer {token}"}, checks=CHECKS)
