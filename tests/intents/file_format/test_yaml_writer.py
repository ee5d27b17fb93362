"""Writing and reading again gives the same values, whatever the texts are."""

from __future__ import annotations

import string

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from controlplane.policy.model import IntentStatus
from intents.file_format.field_rules import KNOWN_FIELDS
from intents.file_format.registry_parser import parse_registry
from intents.file_format.values import IntentValues, RegistryValues
from intents.file_format.yaml_writer import write_registry

MISREAD = [
    "yes",
    "NO",
    "null",
    "~",
    "1_000",
    "0o17",
    "12:30:45",
    "1.10",
    "2026-01-31",
    "<<",
    "=",
    "- a",
    "a: b",
]
texts = st.one_of(
    st.sampled_from(MISREAD),
    st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Cn")), max_size=40),
    st.text(string.ascii_letters + " \n\t#:-'\"\\{}[]|>&*!%@`", max_size=60),
)
sentences = texts.filter(str.strip)
scalars = st.one_of(
    texts,
    st.none(),
    st.booleans(),
    st.integers(-(2**53), 2**53),
    st.floats(-1e6, 1e6).map(lambda x: round(x, 3)),
)
values = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(texts, inner, max_size=3)),
    max_leaves=8,
)
unknown = st.dictionaries(texts.filter(lambda name: name not in KNOWN_FIELDS), values, max_size=3)
constraints = st.one_of(
    sentences, st.dictionaries(texts, values, max_size=2).map(lambda rule: {**rule, "type": "no_such_type"})
)


@st.composite
def intents(draw, number):
    return IntentValues(
        intent_id=f"INT-{number:03}",
        name=draw(texts),
        description=draw(texts),
        status=draw(st.sampled_from(IntentStatus)),
        owner=draw(texts),
        created_at=draw(st.sampled_from(["", "2026-01-31", "2026-01-31T09:30:00.123Z"])),
        owned_scope=tuple(
            draw(st.lists(st.sampled_from(["src/**", "!src/a", "*.md", "yes"]), min_size=1, max_size=3))
        ),
        constraints=tuple(draw(st.lists(constraints, max_size=3))),
        acceptance_criteria=tuple(draw(st.lists(sentences, max_size=3))),
        references=tuple(draw(st.lists(sentences, max_size=2, unique=True))),
        blocked_reason=draw(texts),
        extra=draw(unknown),
    )


@st.composite
def registries(draw):
    count = draw(st.integers(0, 3))
    metadata = st.dictionaries(st.sampled_from(["version", "last_updated", "team"]), sentences, max_size=3)
    beside = unknown.map(
        lambda found: {k: v for k, v in found.items() if k not in {"active_intents", "metadata"}}
    )
    return RegistryValues(tuple(draw(intents(n)) for n in range(1, count + 1)), draw(metadata), draw(beside))


@pytest.mark.deep
@settings(max_examples=150, deadline=None)
@given(registries())
def test_write_and_read_gives_the_same_values(registry):
    text = write_registry(registry)
    reading = parse_registry(text.encode())
    assert reading.report.errors == ()
    assert reading.values == registry
    assert list(reading.values.extra) == list(registry.extra)
    assert write_registry(reading.values) == text


@pytest.mark.parametrize("text", MISREAD)
def test_other_parsers_read_texts_as_texts(text):
    registry = RegistryValues((IntentValues("INT-001", name=text, owned_scope=("a",), extra={"x": text}),))
    (intent,) = yaml.safe_load(write_registry(registry))["active_intents"]
    assert intent["name"] == intent["x"] == text


def test_a_block_of_text_stays_readable():
    registry = RegistryValues(
        (IntentValues("INT-001", description="Line one\nLine two\n", owned_scope=("a",)),)
    )
    assert "description: |\n    Line one\n    Line two\n" in write_registry(registry)


def test_the_words_of_the_file_are_written_back():
    data = b"active_intents:\n- {id: T7, status: active, owned_scope: [a]}\n"
    registry = parse_registry(data, lenient=True).values
    assert registry.intents[0].status is IntentStatus.IN_PROGRESS
    text = write_registry(registry)
    assert 'status: "active"' in text
    # The export names what only a lenient import takes, and so a strict one takes it from there.
    assert 'accepted_as_is:\n  - "id"\n  - "status"\n' in text
    assert parse_registry(text.encode()).values == registry
    assert parse_registry(data).report.errors


# Any field of an intent in the forms that files of others have it, empty and missing ones too.
loose_fields = {
    "status": st.sampled_from([None, "active", " Done ", "DRAFT", "In_Progress", "todo", "PENDING"]),
    "owned_scope": st.sampled_from([[], None, "src/", "/src", ["a/", "b{c,d}"], {"paths": ["/x/"]}]),
    "title": texts,
    "name": st.sampled_from([None, "", "A name"]),
    "scope": st.sampled_from(["prose", ["src/"], {"paths": ["a"]}]),
    "ownedScope": st.sampled_from([["a"], [], None]),
    "acceptance_criteria": st.one_of(texts, st.lists(st.dictionaries(texts, texts, min_size=1, max_size=1))),
    "acceptanceCriteria": st.lists(sentences, max_size=2),
    "constraints": st.one_of(st.dictionaries(texts, values, max_size=2), st.lists(constraints, max_size=2)),
    "dependencies": st.sampled_from([None, [], "", [{"intent_id": "7"}], [{"id": " "}], ["7"]]),
    "Dependencies": st.sampled_from([["7"], []]),
    "related_specs": st.one_of(texts, st.lists(values, max_size=2)),
    "createdAt": st.sampled_from(["2026-01-31", None, ""]),
    "priority": values,
}
loose_ids = st.sampled_from([7, "T7", " int-1 ", "INT-001", "INT-١٢٣", "a b", "é"])
loose_intents = st.tuples(loose_ids, st.fixed_dictionaries({}, optional=loose_fields)).map(
    lambda pair: {"id": pair[0], **pair[1]}
)


@pytest.mark.deep
@settings(max_examples=300, deadline=None)
@given(st.lists(loose_intents, max_size=3), st.sampled_from(["active_intents", "intents", None]))
def test_what_a_lenient_import_takes_in_a_strict_one_takes_from_the_export(rows, root):
    document = rows if root is None else {root: rows, "metadata": {"version": 1.1}}
    data = yaml.safe_dump(document, sort_keys=False, allow_unicode=True).encode()
    first = parse_registry(data, lenient=True).values
    if first is None:
        return
    text = write_registry(first)
    for lenient in (False, True):
        parsed = parse_registry(text.encode(), lenient=lenient)
        assert parsed.report.errors == ()
        assert parsed.values == first
        assert write_registry(parsed.values) == text
