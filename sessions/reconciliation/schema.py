"""The bodies of the reconciliations API for OpenAPI and for checking what is sent."""

from __future__ import annotations

from rest_framework import serializers as s

from controlplane.api.fields import BoolField, IntField, StrField
from sessions.api_schema import Body
from sessions.reconciliation.diff import DiffEntry, DiffRange
from sessions.reconciliation.reconcile import MAX_FILES, OUTCOMES
from traces.api.schema import AnswerProof

HASH = r"^sha256:[0-9a-f]{64}$"
MODE = r"^[0-7]{6}$"


class ChangedFileBody(Body):
    path = StrField(max_length=4096, help_text="As git names it, relative to the repository.")
    status = s.ChoiceField(choices=list("ACDMRTUX"), help_text="The letter of `git diff --raw`.")
    content_hash = s.RegexField(
        HASH, required=False, allow_null=True, help_text="Of the content now; null for a deleted file."
    )
    old_content_hash = s.RegexField(
        HASH, required=False, allow_null=True, help_text="Of the content before, under its old name."
    )
    committed_at = s.DateTimeField(
        required=False,
        allow_null=True,
        help_text="When the range committed it last: later traces replace nothing.",
    )
    old_path = StrField(required=False, allow_blank=True, max_length=4096, help_text="Before a rename.")
    mode_only = BoolField(required=False, help_text="The content is as it was, the mode is not.")
    old_mode = s.RegexField(MODE, required=False, help_text="Before, as git writes it; 000000 for none.")
    new_mode = s.RegexField(MODE, required=False, help_text="Now, as git writes it; 000000 for none.")
    readable = BoolField(required=False, help_text="False for a name that is not UTF-8.")


class ReconciliationBody(Body):
    base = StrField(max_length=200, help_text="The commit before, in full.")
    head = StrField(max_length=200, help_text="The commit after, in full.")
    session_id = StrField(
        required=False, allow_blank=True, max_length=200, help_text="Only what this session did counts."
    )
    intent_id = StrField(
        required=False,
        allow_blank=True,
        max_length=200,
        help_text="Only what was done under this intent counts, and its scope must hold every file.",
    )
    files = s.ListField(child=ChangedFileBody(), max_length=MAX_FILES)


class FindingAnswer(Body):
    path = StrField()
    status = StrField()
    outcome = s.ChoiceField(choices=OUTCOMES)
    reason = StrField(help_text="A word that programs may rely on.")
    text = StrField()
    entry_id = StrField(allow_null=True, help_text="The trace entry.")
    decision_id = StrField(allow_null=True)
    session_id = StrField(allow_null=True)
    intent_id = StrField(allow_null=True)


class CountsAnswer(Body):
    files = IntField()
    explained = IntField()
    unexplained = IntField()
    out_of_scope = IntField()


class ReconciliationRow(Body):
    id = StrField(allow_null=True, help_text="Null after a dry run.")
    received_at = s.DateTimeField(allow_null=True)
    base = StrField()
    head = StrField()
    session_id = StrField(allow_null=True)
    intent_id = StrField(allow_null=True)
    counts = CountsAnswer()


class ReconciliationAnswer(ReconciliationRow):
    findings = FindingAnswer(many=True)
    explained = FindingAnswer(many=True)
    proof = AnswerProof(required=False, help_text="With ?proof=true.")


class ReconciliationPage(Body):
    results = ReconciliationRow(many=True)
    next = StrField(allow_null=True)


def build_range(data: dict[str, object]) -> DiffRange:
    """A checked body as a value."""
    files: list[dict[str, object]] = data.pop("files")  # type: ignore[assignment]  # checked above
    return DiffRange(files=tuple(DiffEntry(**file) for file in files), **data)  # type: ignore[arg-type]
