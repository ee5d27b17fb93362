"""Every answer in the client's own form, and never one on which it would run a refused tool."""

from __future__ import annotations

import pytest

from sessions.adapters.hook_call import Event, HookAnswer
from sessions.adapters.refusal_text import to_hook_answer
from sessions.adapters.registry import CLIENTS
from sessions.gate.answers import EMPTY_ANSWER

WHY = HookAnswer(denied=True, text="Because.")
NOTHING = HookAnswer()
TOLD = HookAnswer(context="# Intent governance")


def nested(name, **said):
    return {"hookSpecificOutput": {"hookEventName": name, **said}}


def denied(name):
    return nested(name, permissionDecision="deny", permissionDecisionReason="Because.")


# agent, event: denial, no objection
BEFORE_A_TOOL = {
    ("claude-code", "PreToolUse"): (denied("PreToolUse"), {}),
    ("codex", "PreToolUse"): (denied("PreToolUse"), {}),
    ("qwen-code", "PreToolUse"): (denied("PreToolUse"), {}),
    ("vscode", "PreToolUse"): (denied("PreToolUse"), {}),
    ("gemini-cli", "BeforeTool"): ({"decision": "deny", "reason": "Because."}, {}),
    ("copilot", "PreToolUse"): (denied("PreToolUse"), {}),
    ("copilot", "preToolUse"): ({"permissionDecision": "deny", "permissionDecisionReason": "Because."}, {}),
    ("opencode", "tool.execute.before"): ({"throw": "Because."}, {}),
    ("kilo", "tool.execute.before"): ({"throw": "Because."}, {}),
    ("cline", "PreToolUse"): ({"cancel": True, "errorMessage": "Because."}, {}),
    ("cline", "beforeTool"): ({"skip": True, "reason": "Because."}, {}),
    ("cursor", "preToolUse"): (
        {"permission": "deny", "user_message": "Because."}, {"permission": "allow"}),
    ("cursor", "beforeShellExecution"): (
        {"permission": "deny", "user_message": "Because."}, {"permission": "allow"}),
    ("windsurf", "pre_run_command"): ({"exit_status": 2, "stderr": "Because."}, {"exit_status": 0}),
    ("roo", "pre_tool"): ({"decision": "deny", "error": "Because."}, {"decision": "allow"}),
}  # fmt: skip
WITH_CONTEXT = {
    ("claude-code", "UserPromptSubmit"): nested("UserPromptSubmit", additionalContext=TOLD.context),
    ("claude-code", "SessionStart"): nested("SessionStart", additionalContext=TOLD.context),
    ("codex", "UserPromptSubmit"): nested("UserPromptSubmit", additionalContext=TOLD.context),
    ("qwen-code", "UserPromptSubmit"): nested("UserPromptSubmit", additionalContext=TOLD.context),
    ("vscode", "UserPromptSubmit"): nested("UserPromptSubmit", additionalContext=TOLD.context),
    ("gemini-cli", "BeforeAgent"): nested("BeforeAgent", additionalContext=TOLD.context),
    ("copilot", "userPromptSubmitted"): {"additionalContext": TOLD.context},
    ("cursor", "beforeSubmitPrompt"): {"continue": True, "additional_context": TOLD.context},
    ("cline", "UserPromptSubmit"): {"context": TOLD.context},
    ("cline", "beforeRun"): {"appendContext": TOLD.context},
    ("opencode", "chat.message"): {"context": TOLD.context},
    ("windsurf", "pre_user_prompt"): {"exit_status": 0},
    ("roo", "prompt"): {"context": TOLD.context},
}


@pytest.mark.parametrize(("agent", "event"), BEFORE_A_TOOL)
def test_before_a_tool(agent, event):
    render = CLIENTS[agent].render
    assert (render(event, WHY), render(event, NOTHING)) == BEFORE_A_TOOL[agent, event]


@pytest.mark.parametrize(("agent", "event"), WITH_CONTEXT)
def test_the_governance_section_as_added_context(agent, event):
    assert CLIENTS[agent].render(event, TOLD) == WITH_CONTEXT[agent, event]


def test_no_client_is_handed_an_ask_or_a_permission_that_skips_its_own_prompt():
    for agent, client in CLIENTS.items():
        for event in client.events:
            for answer in (WHY, NOTHING, TOLD):
                said = str(client.render(event, answer))
                assert "'ask'" not in said, agent
                assert "'allow'" not in said or agent in {"cursor", "roo"}, agent


def test_every_client_has_a_denial_for_every_event_before_a_tool():
    for client in CLIENTS.values():
        for event in (name for name, kind in client.events.items() if kind is Event.PRE_TOOL):
            assert "Because." in str(client.render(event, WHY))
            assert client.render(event, WHY) != client.render(event, NOTHING)


def test_cursor_takes_ten_thousand_characters():
    said = CLIENTS["cursor"].render("sessionStart", HookAnswer(context="x" * 20_000))
    assert len(said["additional_context"]) == 10_000


def test_an_ask_is_refused_with_its_reference_and_what_to_do_next():
    approval = {"id": "a1", "url": "http://icp/a1"}
    answer = to_hook_answer(
        EMPTY_ANSWER | {"decision": "ask", "error": "Not in scope.", "approval": approval}
    )
    assert answer.denied
    assert answer.text.startswith("Not in scope. A human must approve this call first (approval a1")
    assert "send the same call again" in answer.text


def test_a_denial_says_what_to_do_next():
    answer = to_hook_answer(EMPTY_ANSWER | {"error": "No.", "action_hint": "read_file"})
    assert answer.text == "No. Next: read the file again, then repeat the change."


def test_a_denial_is_never_without_words():
    assert to_hook_answer(EMPTY_ANSWER).text
