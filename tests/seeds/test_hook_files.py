"""What the hook engine reads and writes: the schemas of its files and of its tools (document 4)."""

from __future__ import annotations

import json
import re
import uuid
from datetime import datetime

import pytest
import yaml

from tests.seeds.clients import REST, sha256

WEATHER = {
    "id": "INT-001",
    "name": "Build Weather API",
    "status": "IN_PROGRESS",
    "owned_scope": ["src/**", "src/api/**"],
    "constraints": ["Use TypeScript"],
    "acceptance_criteria": ["Unit tests in tests/ pass"],
}
# The report of an edit of each client that has a payload of its own for it, and the file that it names there
EDITS = {
    "claude-code": ("PostToolUse-Edit", "app.py"),
    "codex": ("PostToolUse-apply_patch", "src/new.txt"),
    "gemini-cli": ("AfterTool-replace", "app.py"),
    "qwen-code": ("PostToolUse-edit", "app.py"),
    "copilot": ("postToolUse-edit", "app.py"),
    "cursor": ("postToolUse-Write-2", "README.md"),
    "opencode": ("tool.execute.after-edit", "app.py"),
    "cline": ("PostToolUse-editor-2", "app.py"),
}
BEFORE = "def add(n):\n    total = n + 1\n    return total"
RENAMED = "def add(n):\n    result = n + 1\n    return result"


def paths_of(shop):
    return [file["relative_path"] for entry in shop.traces() for file in entry["files"]]


def list_classes(shop):
    """Return the computed classes, oldest entry first."""
    return [entry["ledger"]["computed_mutation_class"] for entry in reversed(shop.traces())]


def end(agent):
    agent.api("POST", f"sessions/{agent.session}/end")


@pytest.mark.systems(16)
def test_seed4_file_1__the_example_of_active_intents_yaml_is_read_and_written_back(shop, rest):
    """The document lets name, scope and status go; the contract asks for a scope."""
    report = shop.load({"active_intents": [WEATHER]})
    assert (report["applied"], report["errors"]) == (True, [])
    (written,) = yaml.safe_load(shop.text("intents/export"))["active_intents"]
    assert {name: written[name] for name in WEATHER} == WEATHER
    assert rest.take()["intent"]["name"] == "Build Weather API"


def test_seed4_file_1_readers__the_registry_is_read_at_every_selection_and_call(shop, either):
    assert not either.select("INT-002").ran
    shop.intent("INT-002", owned_scope=["docs/**"])
    assert either.select("INT-002").ran
    assert either.write("docs/a.md").ran
    shop.change("INT-002", owned_scope=["web/**"])
    assert not either.write("docs/a.md").ran


@pytest.mark.systems(19)
def test_seed4_file_2__an_entry_of_agent_trace_jsonl_says_what_changed_by_whom_and_for_which_intent(shop):
    coder = shop.agent("claude-code")
    coder.take()
    coder.wrote("src/auth/weather.ts", "a\nb\n")
    (entry,) = [json.loads(line) for line in shop.text("traces/export?format=orchestration").splitlines()]
    assert {"id", "timestamp", "vcs", "files"} <= set(entry)
    assert str(uuid.UUID(entry["id"], version=4)) == entry["id"]
    assert datetime.fromisoformat(entry["timestamp"]).tzinfo
    assert set(entry["vcs"]) == {"revision_id"}
    (file,) = entry["files"]
    assert file["relative_path"] == "src/auth/weather.ts"
    (conversation,) = file["conversations"]
    assert set(conversation) == {"url", "contributor", "ranges", "related"}
    assert conversation["contributor"] == {"entity_type": "AI"}  # this client's hook names no model
    assert conversation["ranges"] == [{"start_line": 1, "end_line": 2, "content_hash": sha256("a\nb\n")}]
    assert conversation["related"] == [{"type": "specification", "value": "INT-001"}]


@pytest.mark.systems(19)
def test_seed4_file_2_append_only__an_entry_that_was_recorded_cannot_be_sent_changed(shop, rest):
    rest.take()
    rest.wrote("src/auth/a.ts")
    (entry,) = [json.loads(line) for line in shop.text("traces/export?format=orchestration").splitlines()]
    changed = entry | {"timestamp": "2020-01-01T00:00:00Z"}
    assert shop.admin("POST", "traces", entry)[0] in {200, 201}
    assert shop.admin("POST", "traces", changed)[0] == 409
    assert len(shop.traces()) == 1


@pytest.mark.systems(19)
def test_seed4_file_2_exchange__an_agent_trace_file_names_the_tool_and_never_takes_it_for_a_model(
    shop, coder
):
    coder.take()
    coder.wrote("src/auth/a.ts")
    text = shop.text("traces/export?format=agent-trace")
    (record,) = [json.loads(line) for line in text.splitlines() if line.strip()]
    for conversation in record["files"][0]["conversations"]:
        assert conversation["contributor"].get("model_id") != coder.client
    assert coder.client == REST or record["tool"]["name"] == coder.client


@pytest.mark.systems(19, 22)
def test_seed4_file_3__intent_map_md_has_a_section_for_each_intent_with_its_files(shop, either):
    shop.intent("INT-002", owned_scope=["src/api/**"])
    for intent_id, path in (("INT-001", "src/auth/middleware.ts"), ("INT-002", "src/api/weather.ts")):
        agent = shop.agent(either.client)
        agent.take(intent_id)
        agent.wrote(path, "export function run(): void {}\n")
        end(agent)
    first, second = shop.text("intent-map?format=markdown").split("## INT-002: Sign-in INT-002")
    assert first.startswith("# Intent Map\n")
    assert "## INT-001: Sign-in INT-001\n" in first
    assert "- `src/auth/middleware.ts`" in first
    assert "- `src/api/weather.ts`" in second
    assert "middleware" not in second


@pytest.mark.systems(21)
@pytest.mark.parametrize("client", ["claude-code", "gemini-cli"])
def test_seed4_file_3_trigger__a_refactoring_leaves_the_map_alone_and_an_evolution_does_not(shop, client):
    name, _ = EDITS[client]
    coder = shop.agent(client)
    coder.take()
    texts = {"app.py": "src/auth/app.py", "a = 10": RENAMED, "a = 1": BEFORE}
    coder.hook(name, texts)
    assert list_classes(shop) == ["AST_REFACTOR"]
    assert "src/auth/app.py" not in shop.text("intent-map?format=markdown")
    coder.hook(name, texts | {"a = 10": BEFORE.replace("1", "2")})
    assert list_classes(shop) == ["AST_REFACTOR", "INTENT_EVOLUTION"]
    assert "- `src/auth/app.py`" in shop.text("intent-map?format=markdown")


@pytest.mark.systems(19)
def test_seed4_tool_1__write_to_file_may_be_required_to_carry_its_class(shop, rest):
    rest.take()
    call = {"path": "src/auth/a.ts", "content": "x", "intent_id": "INT-001"}
    assert rest.gate("write_to_file", **call).ran
    shop.policy(require_mutation_class=True)
    answer = rest.gate("write_to_file", **call)
    assert (answer.body["error_type"], answer.body["reason"]) == ("HOOK_BLOCKED", "mutation_class_required")
    for word in ("AST_REFACTOR", "INTENT_EVOLUTION"):
        assert rest.gate("write_to_file", **call, mutation_class=word).ran


@pytest.mark.systems(19)
def test_seed4_tool_1_classes__any_other_word_for_the_class_is_a_400(rest):
    rest.take()
    told = {"path": "src/auth/a.ts", "content": "x"}
    path = f"sessions/{rest.session}/traces"
    assert rest.api("POST", path, told | {"mutation_class": "NONSENSE"})[0] == 400
    assert rest.api("POST", path, told | {"mutation_class": "AST_REFACTOR"})[0] == 201


@pytest.mark.systems(24)
def test_seed4_file_4__both_intentignore_files_count_together_and_at_once(disk, tmp_path):
    (tmp_path / ".orchestration" / "active_intents.yaml").write_text(disk.text("intents/export"))
    assert disk.server.command("sync_orchestration", "--workspace", disk.slug)[0] == 0
    disk.intent("INT-002", owned_scope=["src/api/**"])
    (tmp_path / ".orchestration" / ".intentignore").write_text("intent: INT-002\n")
    (tmp_path / ".intentignore").write_text("*.secret\n")
    assert disk.agent().take("INT-002")["error_type"] == "INTENT_IGNORED"
    agent = disk.agent()
    assert agent.take()["success"]
    answer = agent.write("src/auth/a.secret")
    assert answer.body["error_type"] == "INTENTIGNORE_PATH_BLOCKED"
    (tmp_path / ".intentignore").write_text("")
    assert agent.write("src/auth/a.secret").ran


@pytest.mark.systems(24)
def test_seed4_file_4_secrets__a_new_workspace_keeps_secrets_from_its_agents(either):
    either.take()
    for path in (".env", ".env.local", "deploy/server.key"):
        assert not either.read(path).ran, path
    assert either.read("src/environment.ts").ran


@pytest.mark.systems(24)
def test_seed4_file_4_intent__an_intent_that_the_file_excludes_takes_no_changes(shop, either):
    either.take()
    assert either.write("src/auth/a.ts").ran
    shop.ignore("intent: INT-001\n")
    assert not either.write("src/auth/a.ts").ran
    assert either.read("README.md").ran
    assert "INT-001 [" not in shop.agent(either.client).prompt()


@pytest.mark.systems(23)
def test_seed4_file_5__agent_md_gets_a_block_for_each_lesson(shop, rest):
    rest.take()
    problem = "Type 'string' is not assignable to type 'number'."
    for path in ("src/auth/a.ts", "src/auth/b.ts"):
        told = {"path": path, "content": "x\n", "problems": problem + path}
        assert rest.api("POST", f"sessions/{rest.session}/traces", told)[0] == 201
    blocks = re.findall(
        r"^## Lesson Learned \(\d{4}-\d\d-\d\d\)\n\n\*\*File:\*\* (.+)\n\*\*Problems:\*\*\n(.+)$",
        shop.text("lessons?format=markdown"),
        re.MULTILINE,
    )
    assert sorted(blocks) == [(path, problem + path) for path in ("src/auth/a.ts", "src/auth/b.ts")]


@pytest.mark.systems(20)
@pytest.mark.parametrize("client", EDITS)
def test_seed4_next_1__every_tool_that_writes_leaves_a_trace(shop, client):
    name, path = EDITS[client]
    coder = shop.agent(client)
    coder.take()
    coder.hook(name, {path: "src/auth/edited.py"}, {"src/auth/edited.py": sha256("a = 10\nb = 2\n")})
    assert "src/auth/edited.py" in paths_of(shop)
    for entry in shop.traces():
        (conversation,) = entry["files"][0]["conversations"]
        assert conversation["related"] == [{"type": "specification", "value": "INT-001"}]


@pytest.mark.systems(20)
def test_seed4_next_1_patch__a_patch_of_several_files_leaves_a_trace_for_each(shop):
    coder = shop.agent("codex")
    coder.take()
    moved = {"app.py": "src/auth/a.py", "moved.py": "src/auth/b.py"}
    coder.hook("PostToolUse-apply_patch-2", moved, {"src/auth/b.py": sha256("a = 11\nb = 2\n")})
    shell = {"echo hi > sh.txt": "rm src/auth/gone.py; echo hi > src/auth/made.txt"}
    coder.hook("PostToolUse-Bash-2", shell, {"src/auth/made.txt": sha256("hi\n")})
    expected = {"src/auth/a.py", "src/auth/b.py", "src/auth/gone.py", "src/auth/made.txt"}
    assert set(paths_of(shop)) == expected


@pytest.mark.systems(29)
def test_seed4_next_2__the_context_tells_what_was_changed_under_the_intent(shop, either):
    either.take()
    either.wrote("src/auth/first.ts")
    end(either)
    (entry,) = [one for one in shop.agent().take()["history"] if "src/auth/first.ts" in one["summary"]]
    assert datetime.fromisoformat(entry["at"]).tzinfo


@pytest.mark.systems(18)
def test_seed4_next_3__the_status_of_an_intent_follows_the_agents_work(shop, rest):
    shop.policy(completion="agent")
    rest.take()
    assert shop.admin("GET", "intents/INT-001")[1]["status"] == "IN_PROGRESS"
    answer = rest.gate("complete_intent", intent_id="INT-001", verification_notes="All tests pass.")
    assert answer.ran
    assert shop.admin("GET", "intents/INT-001")[1]["status"] == "COMPLETED"
    version = shop.admin("GET", "intents/INT-001")[1]["version"]
    back = {"status": "IN_PROGRESS", "version": version}
    assert shop.admin("PATCH", "intents/INT-001", back)[0] == 409


@pytest.mark.systems(30)
def test_seed4_next_4__old_entries_can_be_archived_and_the_ledger_still_verifies(shop, rest, tmp_path):
    rest.take()
    rest.wrote("src/auth/0.ts")
    (entry,) = [json.loads(line) for line in shop.text("traces/export?format=orchestration").splitlines()]
    more = [entry | {"id": str(uuid.uuid4())} for _ in range(256)]  # as many as a tile of the log holds
    assert shop.admin("POST", "traces", more)[0] == 201
    shop.server.manage("seal_ledger")
    archive = ("archive_ledger", "--workspace", shop.slug, "--before", "0d", "--to", str(tmp_path))
    shop.server.manage(*archive, "--release")
    (file,) = [found for found in tmp_path.rglob("*") if found.is_file()]
    shop.server.manage("verify_ledger", "--workspace", shop.slug)
    shop.server.manage("restore_archive", str(file))
    assert shop.reviewer("GET", "ledger/verify")[1]["ok"]
    assert "src/auth/0.ts" in shop.text("traces/export?format=orchestration")


@pytest.mark.systems(23)
@pytest.mark.parametrize(
    ("section", "heading"), [("decision", "Architectural Decision"), ("constraint", "Constraint")]
)
def test_seed4_next_5__agent_md_holds_other_sections_and_is_read_back(shop, rest, section, heading):
    told = {"section": section, "problems": "Money is kept in cents."}
    assert rest.api("POST", "lessons", told)[0] == 201
    assert f"## {heading} (" in shop.text("lessons?format=markdown")
    assert "Money is kept in cents." in rest.take()["context"]
    assert rest.client == REST
    assert "Money is kept in cents." in rest.prompt()
