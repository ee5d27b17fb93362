"""The bodies of the reconciliations API for OpenAPI and for checking what is sent."""

from __future__ import annotations

from rest_framework import serializers as s

from controlplane.api.fields import Text, Whole, YesNo
from sessions.api_schema import Body
from sessions.reconciliation.reconcile import MAX_FILES, OUTCOMES, ChangedFile, Range

HASH = r"^sha256:[0-9a-f]{64}$"


class ChangedFileBody(Body):
    path = Text(max_length=4096, help_text="As git names it, relative to the repository.")
    status = s.ChoiceField(choices=list("ACDMRTUX"), help_text="The letter of `git diff --raw`.")
    content_hash = s.RegexField(
        HASH, required=False, allow_null=True, help_text="Of the content now; null for a deleted file."
    )
    old_path = Text(required=False, allow_blank=True, max_length=4096, help_text="Before a rename.")
    mode_only = YesNo(required=False, help_text="The content is as it was, the mode is not.")
    readable = YesNo(required=False, help_text="False for a name that is no UTF-8.")


class ReconciliationBody(Body):
    base = Text(max_length=200, help_text="The commit before, in full.")
    head = Text(max_length=200, help_text="The commit after, in full.")
    session_id = Text(
        required=False, allow_blank=True, max_length=200, help_text="Only what this session did counts."
    )
    intent_id = Text(
        required=False,
        allow_blank=True,
        max_length=200,
        help_text="Only what was done under this intent counts, and its scope must hold every file.",
    )
    files = s.ListField(child=ChangedFileBody(), max_length=MAX_FILES)


class FindingAnswer(Body):
    path = Text()
    status = Text()
    outcome = s.ChoiceField(choices=OUTCOMES)
    reason = Text(help_text="A word that programs may rely on.")
    text = Text()
    entry_id = Text(allow_null=True, help_text="The trace entry.")
    decision_id = Text(allow_null=True)
    session_id = Text(allow_null=True)
    intent_id = Text(allow_null=True)


class CountsAnswer(Body):
    files = Whole()
    explained = Whole()
    unexplained = Whole()
    out_of_scope = Whole()


class ReconciliationRow(Body):
    id = Text(allow_null=True, help_text="Null after a dry run.")
    received_at = s.DateTimeField(allow_null=True)
    base = Text()
    head = Text()
    session_id = Text(allow_null=True)
    intent_id = Text(allow_null=True)
    counts = CountsAnswer()


class ReconciliationAnswer(ReconciliationRow):
    findings = FindingAnswer(many=True)
    explained = FindingAnswer(many=True)


class ReconciliationPage(Body):
    results = ReconciliationRow(many=True)
    next = Text(allow_null=True)


def range_of(data: dict[str, object]) -> Range:
    """A checked body as a value."""
    files: list[dict[str, object]] = data.pop("files")  # type: ignore[assignment]  # checked above
    return Range(files=tuple(ChangedFile(**file) for file in files), **data)  # type: ignore[arg-type]
