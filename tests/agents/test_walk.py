"""What came of one run of each real agent: what the model was told, what ran, what was recorded."""

from __future__ import annotations

import hashlib

import pytest

from tests.agents.walk import TEXT

pytestmark = pytest.mark.agents

MANDATE = "Your first action MUST be to analyze the user request and call select_active_intent"


def test_connected_by_its_own_configuration_alone_and_the_doctor_is_content(walked):
    assert "FAIL" not in walked.doctor, walked.doctor


def test_the_model_is_told_the_mandate_with_the_prompt(walked):
    assert MANDATE in " ".join(walked.model.said["Walk through the gate."].split())


@pytest.mark.parametrize("step", ["before the handshake", "around it by the shell"])
def test_before_the_handshake_nothing_is_written_and_the_model_reads_why(walked, step):
    assert "You must cite a valid active Intent ID." in walked.told[step]
    assert "INT-001" in walked.told[step]
    assert not walked.there("src/auth/early.ts")


def test_in_scope_the_file_is_really_written(walked):
    assert (walked.machine.repository / "src/auth/a.ts").read_text() == TEXT


def test_out_of_scope_the_model_reads_that_a_human_must_approve(walked):
    told = walked.told["out of scope"]
    assert "Scope Violation: INT-001 is not authorized to edit [docs/design.md]." in told
    assert "A human must approve this call first" in told


def test_the_same_call_runs_once_it_is_approved(walked):
    assert "Scope Violation" not in walked.told["approved"]
    assert (walked.machine.repository / "docs/design.md").read_text() == TEXT


def test_what_a_reviewer_rejected_is_refused_by_the_shell_as_well(walked):
    assert "Scope Violation" in walked.told["asked"]
    assert "Rejected by" in walked.told["rejected"]
    assert "Not this file." in walked.told["rejected"]
    assert not walked.there("docs/other.md")


def test_a_sub_agent_is_held_to_the_intent_of_its_session(walked):
    assert not walked.there("docs/helper.md")
    if walked.row.apart:
        assert "You must cite a valid active Intent ID." in walked.told["helper out of scope"]
        assert "You must cite a valid active Intent ID." in walked.told["helper in scope"]
        assert not walked.there("src/auth/helper.ts")
    else:
        assert "Scope Violation: INT-001" in walked.told["helper out of scope"]
        assert (walked.machine.repository / "src/auth/helper.ts").read_text() == TEXT


@pytest.mark.parametrize("step", ["server gone", "server gone, by the shell"])
def test_without_the_server_nothing_runs_and_the_model_reads_why(walked, step):
    assert "cannot be reached" in walked.told[step]
    assert "must not run" in walked.told[step]
    assert not walked.there("src/auth/late.ts")


def test_what_was_written_is_recorded_with_its_range_and_its_hash(walked):
    hashed = f"sha256:{hashlib.sha256(TEXT.encode()).hexdigest()}"
    for path in walked.written:
        _, listed = walked.server.api(walked.tokens["reviewer"], "GET", f"traces?path={path}")
        [entry] = listed["results"]
        [file] = entry["files"]
        [talk] = file["conversations"]
        assert talk["ranges"] == [{"start_line": 1, "end_line": 2, "content_hash": hashed}]
        assert talk["related"] == [{"type": "specification", "value": "INT-001"}]


def test_nothing_is_recorded_that_did_not_happen(walked):
    _, listed = walked.server.api(walked.tokens["reviewer"], "GET", "traces")
    paths = {file["relative_path"] for entry in listed["results"] for file in entry["files"]}
    assert paths == walked.written
