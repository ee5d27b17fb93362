"""The examples of docs/constraints.md, sent to the gate: one call that runs, one that is refused."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import yaml

from controlplane.policy.rules.constraints import CONSTRAINT_TYPES
from intents.api.schema import EXAMPLE_INTENT
from intents.models import Intent
from tests import builders

pytestmark = pytest.mark.django_db

DOCS = Path(__file__).parents[3] / "docs" / "constraints.md"
EXAMPLES = {
    name: (yaml.safe_load(constraint), json.loads(calls))
    for name, constraint, calls in re.findall(
        r"^## `(\w+)`\n.*?^```yaml\n(.*?)^```\n\n```json\n(.*?)^```",
        DOCS.read_text(),
        re.MULTILINE | re.DOTALL,
    )
}


def test_every_type_has_an_example():
    assert set(EXAMPLES) == set(CONSTRAINT_TYPES)


@pytest.mark.parametrize("name", CONSTRAINT_TYPES)
def test_the_example_is_saved_and_checked(acme, admin, name):
    constraint, calls = EXAMPLES[name]
    assert constraint["type"] == name
    body = {"id": "INT-001", "name": "Auth", "owned_scope": ["**"], "constraints": [constraint]}
    assert admin.post("intents", body).status_code == 201
    agent = builders.speaker(acme)
    assert agent.select("INT-001")["success"]
    # The refused call first: an allowed one is a change of the session, which some types count.
    refused = agent.gate(calls["refused"]["tool"], **calls["refused"]["input"])
    assert (refused["decision"], refused["error_type"], refused["reason"]) == (
        "deny",
        "CONSTRAINT_VIOLATION",
        name,
    )
    allowed = agent.gate(calls["allowed"]["tool"], **calls["allowed"]["input"])
    assert allowed["decision"] == "allow", allowed["error"]


def test_the_example_of_the_rest_schema_is_saved_and_checked(acme, admin):
    assert admin.post("intents", EXAMPLE_INTENT.value).status_code == 201
    agent = builders.speaker(acme)
    assert agent.select("INT-001")["success"]
    assert agent.gate("Write", file_path="src/auth/a.ts", content="x\n" * 400)["decision"] == "allow"
    refused = agent.gate("Write", file_path="src/auth/a.ts", content="x\n" * 401)
    assert refused["reason"] == "max_file_lines"


SEED_EXAMPLES = b"""
active_intents:
- id: INT-001
  status: PENDING
  owned_scope: ["**"]
  acceptance_criteria: [Tests pass]
  constraints:
    - type: "library_version"
      library: "bcrypt"
      min_version: "5.0.0"
      validation: "Check package.json dependencies"

    - type: "code_pattern"
      pattern: "No console.log in production code"
      validation: "Scan for console.log outside test files"

    - type: "file_size"
      max_lines: 500
      scope: "src/**/*.ts"
      validation: "Check line count of modified files"
"""


def test_the_protocol_documents_own_examples_are_imported_and_checked(acme, admin):
    answer = admin.post("intents/import", SEED_EXAMPLES, content_type="application/yaml")
    assert answer.status_code == 200
    (warning,) = answer.json()["warnings"]
    assert (warning["type"], warning["line"]) == ("UNKNOWN_CONSTRAINT_TYPE", 13)
    assert "sentence" in warning["message"]
    assert len(Intent.objects.get().constraints) == 3
    agent = builders.speaker(acme)
    assert agent.select("INT-001")["success"]
    for path, content, reason in (
        ("src/a.ts", "x\n" * 500, None),
        ("src/a.ts", "x\n" * 501, "file_size"),
        ("src/a.py", "x\n" * 501, None),
        ("package.json", '{"dependencies": {"bcrypt": "^5.0.0"}}', None),
        ("package.json", '{"dependencies": {"bcrypt": "^4.0.1"}}', "library_version"),
        ("src/a.ts", "console.log(1)", None),
    ):
        assert agent.gate("Write", file_path=path, content=content)["reason"] == reason, path
