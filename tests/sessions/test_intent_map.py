"""intent_map.md fills by itself: from hooks that claim no class, from REST, whatever an agent claims."""

from __future__ import annotations

import subprocess

import pytest
from django.urls import reverse

from tests import builders
from tests.sessions.adapters import captured
from traces.counts.counters import count_sealed
from traces.ledger.sealing import seal
from traces.models import TraceFile
from traces.verification.repair import rebuild_projections

pytestmark = pytest.mark.django_db

REFACTOR, EVOLUTION = "AST_REFACTOR", "INTENT_EVOLUTION"
OLD = "def total(a, b):\n    return a + b\n"
TIDY = "def total(a, b):\n    # the sum\n    return a+b\n"
OTHER = "def total(a, b):\n    return a - b\n"


@pytest.fixture
def working(acme, agent):
    builders.intent(acme, owned_scope=["**"])
    agent.select("INT-001")
    return agent


def hook(agent, name, call, **changes):
    """Claude Code's captured PostToolUse, with this much of it changed."""
    payload = dict(captured.one("claude-code", name).payload)
    for field, values in changes.items():
        payload[field] = payload[field] | values
    payload |= {"session_id": "s-1", "tool_use_id": call}
    answer = agent.client.post(
        "/hooks/claude-code/PostToolUse",
        payload,
        content_type="application/json",
        headers={"Authorization": f"Bearer {agent.secret}"},
    )
    assert answer.status_code == 200, answer.content


def report(agent, path="src/a.py", status=201, **fields):
    answer = agent.post("sessions/s-1/traces", {"path": path, **fields})
    assert answer.status_code == status, answer.content
    return answer.json()


def listed(agent):
    sections = agent.get("intent-map", format="json").json()["intents"]
    return [(one["intent_id"], one["files"]) for one in sections]


def write(agent, path, text, call, before=None):
    hook(
        agent,
        "PostToolUse-Write",
        call,
        tool_input={"file_path": f"/workspace/{path}", "content": text},
        tool_response={"filePath": f"/workspace/{path}", "content": text, "originalFile": before},
    )


def test_three_writes_of_a_client_that_claims_no_class_are_in_the_map(working, acme):
    hook(working, "PostToolUse-Write", "t-1")
    write(working, "src/a.py", OTHER, "t-2", before=OLD)
    hook(working, "PostToolUse-Edit", "t-3")
    write(working, "src/tidied.py", TIDY, "t-4", before=OLD)
    expected = [("INT-001", ["app.py", "src/a.py", "src/new.txt"])]
    assert listed(working) == expected
    assert "- `src/new.txt`\n" in working.get("intent-map").content.decode()
    seal(acme.pk)
    count_sealed(acme.pk)
    assert listed(working) == expected


def test_a_claim_stands_where_nothing_is_computed(working):
    report(working, content="a", path="notes.md")
    report(working, content="b", path="notes.md", mutation_class=REFACTOR)
    report(working, content="x\n", path="part.md", start_line=4, end_line=4, mutation_class=REFACTOR)
    report(working, content="x\n", path="more.md", start_line=4, end_line=4, mutation_class=EVOLUTION)
    report(working, content="x\n", path="silent.md", start_line=4, end_line=4)
    assert listed(working) == [("INT-001", ["more.md", "notes.md"])]
    classes = TraceFile.objects.order_by("pk").values_list("mutation_class", flat=True)
    assert list(classes) == [EVOLUTION, REFACTOR, REFACTOR, EVOLUTION, ""]


def test_a_false_claim_hides_nothing_and_adds_nothing(working):
    for path, text, claim in (("hidden.py", OTHER, REFACTOR), ("boast.py", TIDY, EVOLUTION)):
        report(working, path, content_hash="sha256:" + "0" * 64, start_line=2, end_line=2)
        call = f"t-{path}"
        edit = {"file_path": path, "old_string": OLD, "new_string": text}
        assert working.gate("Edit", **edit, tool_use_id=call)["decision"] == "allow"
        report(working, path, content=text, tool_use_id=call, mutation_class=claim)
    assert listed(working) == [("INT-001", ["hidden.py"])]


def test_a_new_file_is_an_evolution_whatever_is_claimed(working):
    entry = report(working, content="a", path="notes.md", mutation_class=REFACTOR, tool_use_id="t-1")["entry"]
    assert (entry["mutation_class"], entry["files"][0]["new"]) == (REFACTOR, True)
    report(working, "notes.md", 200, content="a", mutation_class=REFACTOR, tool_use_id="t-1")
    assert listed(working) == [("INT-001", ["notes.md"])]
    assert "new" not in report(working, content="b", path="notes.md")["entry"]["files"][0]
    report(working, content_hash="DELETED", path="notes.md")
    assert report(working, content="c", path="notes.md")["entry"]["files"][0]["new"]


def test_a_file_that_was_never_there_is_not_new_when_it_is_deleted(working):
    assert "new" not in report(working, content_hash="DELETED", path="gone.md")["entry"]["files"][0]
    assert listed(working) == []


def test_a_file_that_git_holds_is_not_new(acme, working, tmp_path):
    acme.local_root = str(tmp_path)
    acme.save()
    (tmp_path / "known.md").write_text("a\n")
    for words in (
        ["init", "-q"],
        ["add", "."],
        ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "a"],
    ):
        subprocess.run(["git", "-C", str(tmp_path), *words], check=True, capture_output=True)
    assert "new" not in report(working, content="b\n", path="known.md")["entry"]["files"][0]
    assert report(working, content="b\n", path="made.md")["entry"]["files"][0]["new"]
    assert listed(working) == [("INT-001", ["made.md"])]


def test_the_map_is_a_function_of_what_is_sealed(working, acme):
    hook(working, "PostToolUse-Write", "t-1")
    write(working, "src/a.py", OTHER, "t-2", before=OLD)
    before, rows = listed(working), list(TraceFile.objects.order_by("pk").values_list("mutation_class"))
    rebuild_projections(acme.pk)
    assert listed(working) == before == [("INT-001", ["src/a.py", "src/new.txt"])]
    assert list(TraceFile.objects.order_by("pk").values_list("mutation_class")) == rows


def test_the_file_page_shows_the_claim_beside_what_is_computed(working, rex):
    write(working, "src/a.py", OTHER, "t-1", before=OLD)
    page = builders.signed_in(rex).get(reverse("traces:file", args=["acme", "src/a.py"]))
    assert "computed INTENT_EVOLUTION" in page.content.decode()


@pytest.mark.parametrize("word", ["NONSENSE", "intent_evolution", "", " AST_REFACTOR", 7, ["AST_REFACTOR"]])
def test_any_other_word_is_no_class(working, word):
    answer = working.post("sessions/s-1/traces", {"path": "a.md", "content": "a", "mutation_class": word})
    assert answer.status_code == 400
    assert "AST_REFACTOR or INTENT_EVOLUTION" in answer.json()["error"]
    sent = {"session_id": "s-1", "tool": "write_to_file"}
    told = working.post("gate", sent | {"input": {"path": "a.md", "content": "a", "mutation_class": word}})
    assert (told.status_code, told.json()["decision"], told.json()["error_type"]) == (
        400,
        "deny",
        "HOOK_BLOCKED",
    )
    assert "AST_REFACTOR or INTENT_EVOLUTION" in told.json()["error"]
    assert not TraceFile.objects.exists()


@pytest.mark.parametrize("claim", [{}, {"mutation_class": None}, {"mutation_class": REFACTOR}])
def test_no_claim_and_the_two_words_are_fine(working, claim):
    assert working.gate("write_to_file", path="a.md", content="a", **claim)["decision"] == "allow"
    report(working, content="a", path="a.md", **claim)


def test_a_hook_before_the_tool_that_claims_another_word_is_refused_in_the_clients_form(working):
    payload = captured.one("claude-code", "PreToolUse-Write").payload | {"session_id": "s-1"}
    payload["tool_input"] = payload["tool_input"] | {"mutation_class": "NONSENSE"}
    answer = working.client.post(
        "/hooks/claude-code/PreToolUse",
        payload,
        content_type="application/json",
        headers={"Authorization": f"Bearer {working.secret}"},
    )
    assert answer.json()["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert "mutation_class must be" in answer.content.decode()


def test_after_the_tool_another_word_loses_no_record(working):
    hook(working, "PostToolUse-Write", "t-1", tool_input={"mutation_class": "NONSENSE"})
    assert listed(working) == [("INT-001", ["src/new.txt"])]


# --- symbols ----------------------------------------------------------------------------------------

LOGIN = "export function login() {\n}\nexport class Session {\n  end() {}\n}\n"


def symbols(agent):
    (section,) = agent.get("intent-map", format="json").json()["intents"]
    return section["symbols"]


def test_the_map_names_what_its_files_define(working, acme):
    write(working, "src/a.ts", LOGIN, "t-1")
    hook(working, "PostToolUse-Write", "t-2")
    assert (
        "- `src/a.ts` (`login`, `Session`)\n- `src/new.txt`\n" in working.get("intent-map").content.decode()
    )
    expected = [("login", "function", 1, 2), ("Session", "class", 3, 5), ("end", "method", 4, 4)]
    names = ("name", "kind", "start_line", "end_line")
    assert symbols(working) == {"src/a.ts": [dict(zip(names, values, strict=True)) for values in expected]}
    rebuild_projections(acme.pk)
    assert len(symbols(working)["src/a.ts"]) == 3


def test_the_newest_change_decides_what_a_file_defines(working):
    report(working, "a.py", content="def f(): pass\n")
    report(working, "a.py", content="\n\ndef f(): pass\ndef g(): pass\n")
    assert [(one["name"], one["start_line"]) for one in symbols(working)["a.py"]] == [("f", 3), ("g", 4)]
    report(working, "a.py", content="def f(: broken\n")
    assert symbols(working) == {}
    report(working, "a.py", content="def f(): pass\n")
    assert "a.py" in symbols(working)
    report(working, "a.py", content_hash="DELETED")
    assert symbols(working) == {}


def test_lines_of_a_file_are_no_text_to_find_symbols_in(working):
    report(working, "a.py", content="def f(): pass\n", start_line=4, end_line=4, mutation_class=EVOLUTION)
    assert symbols(working) == {}


def test_the_file_page_lists_them(working, rex):
    write(working, "src/a.ts", LOGIN, "t-1")
    page = builders.signed_in(rex).get(reverse("traces:file", args=["acme", "src/a.ts"])).content.decode()
    assert "<code><bdi>Session</bdi></code>" in page
    assert "<td>3\N{EN DASH}5</td>" in page


def test_an_export_brings_them_along(working):
    write(working, "src/a.ts", LOGIN, "t-1")
    lines = b"".join(working.get("traces/export", format="orchestration").streaming_content)
    other = builders.workspace("other")
    away = builders.speaker(other, "admin")
    answer = away.post("traces/import", lines.decode(), content_type="application/x-ndjson")
    assert answer.status_code == 200, answer.content
    assert [one["name"] for one in symbols(away)["src/a.ts"]] == ["login", "Session", "end"]


@pytest.mark.parametrize(
    "forged", ["x", [7], [{"name": "f"}], [{"name": "f\n", "kind": "class", "start_line": 1, "end_line": 1}]]
)
def test_symbols_that_others_wrote_wrongly_are_not_shown(working, forged):
    entry = report(working, "a.py", content="def f(): pass\n")["entry"]
    entry = entry | {"id": "forged", "files": [entry["files"][0] | {"symbols": forged}]}
    assert working.post("traces", [entry]).status_code == 201
    assert symbols(working) == {}
