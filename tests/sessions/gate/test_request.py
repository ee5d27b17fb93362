"""The body of a gate request: what is taken, what is refused with which words, and that OpenAPI says the same."""

from __future__ import annotations

from pathlib import Path

import jsonschema
import pytest
import yaml

from sessions.errors import GateInputError
from sessions.explain.api import ExplainBody
from sessions.gate.limits import MAX_HASHES, MAX_INPUT_BYTES, MAX_LINKS
from sessions.gate.request import parse_gate_request, validate_body

DOCUMENT = Path(__file__).resolve().parents[3] / "docs" / "openapi.yaml"
BODY = {"session_id": "s-1", "tool": "Write", "input": {"file_path": "a"}}
HASH = "sha256:" + "a1" * 32
LESS = {name: {key: value for key, value in BODY.items() if key != name} for name in BODY}

GOOD = {
    "least": {},
    "nulls": dict.fromkeys(
        ("agent", "cwd", "root", "revision_id", "tool_use_id", "current_content_hashes", "links")
    ),
    "empty_texts": {"cwd": "", "root": "", "revision_id": "", "tool_use_id": ""},
    "agent": {"agent": {"name": "codex", "version": None, "model": "m", "hook": ""}},
    "hashes": {"current_content_hashes": {"a": HASH, "b": None, "c": "", "d": HASH.replace("a1", "A1")}},
    "links": {"links": {"a": "../b", "c": ""}},
    "whole_seconds": {"wait_seconds": 55},
    "parts_of_seconds": {"wait_seconds": 0.5},
    "dry_run": {"dry_run": True},
    "any_input": {"input": None},
}
BAD = {
    "no_session": (LESS["session_id"], "The field session_id must be a non-empty string."),
    "no_tool": (LESS["tool"], "The field tool must be a non-empty string."),
    "no_input": (LESS["input"], "The field input is missing: send the tool's input as a JSON object."),
    "number_as_id": (BODY | {"session_id": 5}, "The field session_id must be a non-empty string."),
    "empty_id": (BODY | {"session_id": ""}, "The field session_id must be a non-empty string."),
    "long_id": (BODY | {"tool": "x" * 201}, "The field tool is longer than 200 characters."),
    "long_path": (BODY | {"cwd": "x" * 4097}, "The field cwd is longer than 4096 characters."),
    "list_as_path": (BODY | {"root": []}, "The field root must be a string."),
    "unknown": (BODY | {"zone": 1, "surprise": 1}, "Unknown field 'surprise'. Known are: agent, client_program, containment, current_content_hashes,"),
    "agent_text": (BODY | {"agent": "codex"}, "The field agent must be an object with name, version, model and hook."),
    "agent_field": (BODY | {"agent": {"mode": "x"}}, "The field agent must be an object with name, version, model and"),
    "agent_name": (BODY | {"agent": {"name": 1}}, "The field name must be a string."),
    "agent_long": (BODY | {"agent": {"hook": "x" * 101}}, "The field hook is longer than 100 characters."),
    "hashes_list": (BODY | {"current_content_hashes": []}, "current_content_hashes must be an object: path to sha256:"),
    "md5": (BODY | {"current_content_hashes": {'a"b': "md5:1"}}, 'current_content_hashes["a\\"b"] is not sha256: and 64 hex digits.'),
    "no_hex": (BODY | {"current_content_hashes": {"a": "sha256:" + "z" * 64}}, 'current_content_hashes["a"] is not sha256:'),
    "upper_prefix": (BODY | {"current_content_hashes": {"a": HASH.upper()}}, 'current_content_hashes["a"] is not sha256:'),
    "many_hashes": (BODY | {"current_content_hashes": dict.fromkeys(map(str, range(MAX_HASHES + 1)))}, "current_content_hashes must"),
    "links_list": (BODY | {"links": []}, "links must be an object of at most 1000 paths: link to where it leads."),
    "link_number": (BODY | {"links": {"a": 1}}, "links must be an object of at most 1000 paths"),
    "long_link": (BODY | {"links": {"a": "x" * 4097}}, "links must be an object of at most 1000 paths"),
    "many_links": (BODY | {"links": dict.fromkeys(map(str, range(MAX_LINKS + 1)), "x")}, "links must be an object of at most 1000"),
    "long_wait": (BODY | {"wait_seconds": 56}, "wait_seconds must be a number from 0 to 55."),
    "negative_wait": (BODY | {"wait_seconds": -1}, "wait_seconds must be a number from 0 to 55."),
    "wait_as_text": (BODY | {"wait_seconds": "5"}, "wait_seconds must be a number from 0 to 55."),
    "wait_as_truth": (BODY | {"wait_seconds": True}, "wait_seconds must be a number from 0 to 55."),
    "no_wait": (BODY | {"wait_seconds": None}, "wait_seconds must be a number from 0 to 55."),
    "dry_text": (BODY | {"dry_run": "yes"}, "dry_run must be true or false."),
    "dry_number": (BODY | {"dry_run": 1}, "dry_run must be true or false."),
}  # fmt: skip
# Rules about characters, which no JSON Schema says in a way that every reader understands alike.
UNPRINTABLE = {
    "blank": ("   ", "The field session_id must be a non-empty string."),
    "line_feed": ("a\nb", "The field session_id holds control or invisible characters."),
    "zero_width": ("a\u200bb", "The field session_id holds control or invisible characters."),
}


@pytest.fixture(scope="module")
def documented():
    """The document's own schema of the body, as a validator."""
    document = yaml.safe_load(DOCUMENT.read_text())
    schema = {"$ref": "#/components/schemas/GateBodyRequest", "components": document["components"]}
    return jsonschema.Draft4Validator(nullable(schema))


def nullable(schema):
    """OpenAPI's `nullable` in the words of JSON Schema."""
    if isinstance(schema, list):
        return [nullable(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    inner = {name: nullable(part) for name, part in schema.items()}
    return {"anyOf": [inner, {"type": "null"}]} if schema.get("nullable") is True else inner


def refusal(body, size=0):
    with pytest.raises(GateInputError) as caught:
        parse_gate_request(body, size)
    return caught.value.error


@pytest.mark.parametrize("more", GOOD.values(), ids=GOOD)
def test_a_good_body_is_taken_and_documented(more, documented):
    assert parse_gate_request(BODY | more, 0).session_id == "s-1"
    assert documented.is_valid(BODY | more)


@pytest.mark.parametrize(("body", "error"), BAD.values(), ids=BAD)
def test_a_bad_body_is_refused_with_words_and_documented_so(body, error, documented):
    assert refusal(body).startswith(error)
    assert not documented.is_valid(body)


@pytest.mark.parametrize(("session_id", "error"), UNPRINTABLE.values(), ids=UNPRINTABLE)
def test_an_id_is_printable(session_id, error):
    assert refusal(BODY | {"session_id": session_id}) == error


@pytest.mark.parametrize("body", [None, [], "x", 5], ids=["null", "list", "text", "number"])
def test_a_body_is_an_object(body):
    assert refusal(body) == "The body must be a JSON object with session_id, tool and input."


def test_the_first_wrong_field_is_named_and_an_unknown_one_before_all():
    assert refusal({"tool": 5, "dry_run": 1}).startswith("The field session_id")
    assert refusal({"tool": 5, "dry_run": 1, "x": 1}).startswith("Unknown field 'x'")


def test_only_the_input_counts_towards_its_limit():
    long = "x" * MAX_INPUT_BYTES
    assert refusal(BODY | {"input": {"content": long}}, MAX_INPUT_BYTES + 50).startswith("The input is over")
    assert parse_gate_request(BODY | {"links": {"a": "x" * 4000}}, MAX_INPUT_BYTES + 50)


def test_a_request_carries_what_the_gate_needs():
    body = BODY | {
        "agent": {"name": "codex", "version": "1", "model": "m", "hook": "2"},
        "cwd": "/w/a", "root": "/w", "revision_id": "c", "tool_use_id": "t", "links": {"l": "x"},
        "current_content_hashes": {"a": HASH.replace("a1", "A1"), "b": None, "c": ""},
        "wait_seconds": 5, "dry_run": True,
    }  # fmt: skip
    request = parse_gate_request(body, 0)
    call, opening = request.call, request.opening
    assert (call.tool, call.input, call.cwd, call.root) == ("Write", {"file_path": "a"}, "/w/a", "/w")
    assert (call.agent, call.call_id, call.links) == ("codex", "t", {"l": "x"})
    assert call.current_content_hashes == {"a": HASH, "b": "", "c": ""}
    assert (request.wait_seconds, request.dry_run) == (5.0, True)
    assert (opening.session_id, opening.agent_name, opening.agent_version) == ("s-1", "codex", "1")
    assert (opening.agent_model, opening.hook_version, opening.revision_id) == ("m", "2", "c")
    assert (opening.root, opening.cwd) == ("/w", "/w/a")


AS = {
    "text": ("x", "The field as must be an object with intent_id, session_id or both."),
    "unknown": ({"intent": "x"}, "The field as must be an object with intent_id, session_id or both."),
    "number": ({"intent_id": 5}, "The field intent_id must be a string."),
    "long": ({"session_id": "x" * 201}, "The field session_id is longer than 200 characters."),
}


@pytest.mark.parametrize(("standpoint", "error"), AS.values(), ids=AS)
def test_the_standpoint_of_an_explanation_is_refused_alike(standpoint, error):
    with pytest.raises(GateInputError) as caught:
        validate_body(ExplainBody, BODY | {"as": standpoint}, 0)
    assert caught.value.error == error
