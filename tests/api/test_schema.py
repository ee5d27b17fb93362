"""The whole API against its own OpenAPI document: no 500, nothing undocumented, whatever is sent."""

from __future__ import annotations

import os

import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from controlplane.wsgi import application
from tests import builders

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

EXAMPLES = int(os.environ.get("ICP_SCHEMA_EXAMPLES", "12"))
CHECKS = (not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance)


@pytest.fixture
def api_schema(db):
    return schemathesis.openapi.from_wsgi("/api/v1/schema", application)


@pytest.fixture
def tokens():
    """A workspace with an intent, a session and an approval, so that some random calls find something."""
    workspace = builders.workspace("fuzzed")
    builders.intent(workspace)
    agent = builders.speaker(workspace)
    agent.select("INT-001", session="1")
    agent.gate("Write", session="1", file_path="docs/a.md", content="x")
    return {role: builders.speaker(workspace, role).secret for role in ("reviewer", "admin")} | {
        "agent": agent.secret
    }


schema = schemathesis.pytest.from_fixture("api_schema")


@schema.parametrize()
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)
def test_every_operation_answers_as_documented(case, tokens):
    role = "agent" if "/sessions" in case.operation.path or case.operation.path.endswith("/gate") else "admin"
    case.call_and_validate(headers={"Authorization": f"Bearer {tokens[role]}"}, checks=CHECKS)
