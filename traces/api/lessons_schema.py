"""The bodies of the lessons API for OpenAPI; what a field means is said here once."""

from __future__ import annotations

from rest_framework import serializers as s

from controlplane.api.fields import IntField, StrField
from traces.api.schema import Body, query
from traces.lessons.retire import MAX_REASON_LENGTH
from traces.lessons.store import LessonSection, LessonSource

SECTIONS = [section.value for section in LessonSection]
STATES = ["active", "retired", "all"]
SECTION = query("section", "Only this one of the sections.", enum=SECTIONS)
STATE = query("state", "Active, retired, or both; active when absent.", enum=STATES)


class LessonBody(Body):
    section = s.ChoiceField(choices=SECTIONS, required=False, help_text="`lesson` when absent.")
    file = StrField(required=False, allow_blank=True, max_length=1000, help_text="Workspace-relative.")
    problems = StrField(max_length=100_000, help_text="What failed, was decided, or must hold.")
    learned_on = s.DateField(required=False, help_text="Today when absent.")
    session_id = StrField(required=False, allow_blank=True, max_length=200)
    intent_id = StrField(required=False, allow_blank=True, max_length=200)


class RetireBody(Body):
    reason = StrField(max_length=MAX_REASON_LENGTH, help_text="Why it no longer helps.")


class RestoreBody(Body):
    reason = StrField(required=False, allow_blank=True, max_length=MAX_REASON_LENGTH)


class RetirementAnswer(Body):
    at = s.DateTimeField()
    by = StrField()
    reason = StrField()


class LessonAnswer(Body):
    id = StrField()
    section = s.ChoiceField(choices=SECTIONS)
    learned_on = s.DateField()
    file = StrField(help_text="The first of its files, empty for none.")
    files = s.ListField(child=StrField(), help_text="All of them.")
    problems = StrField()
    source = s.ChoiceField(choices=[source.value for source in LessonSource])  # type: ignore[assignment]  # declared, not the property
    source_id = StrField(help_text="The approval that was rejected.")
    by = StrField(help_text="The person or token that recorded it.")
    session_id = StrField()
    intent_id = StrField()
    again = IntField(help_text="How often it was learned again.")
    retired = RetirementAnswer(allow_null=True)


class LessonPage(Body):
    results = LessonAnswer(many=True)
    next = StrField(allow_null=True)


class UnreadLineAnswer(Body):
    line = IntField(help_text="Its number in the file, from 1.")
    text = StrField()


class LearnedAnswer(Body):
    recorded = IntField()
    duplicates = IntField(help_text="Lessons that were known already.")
    not_understood = UnreadLineAnswer(
        many=True,
        required=False,
        help_text="Lines of an AGENT.md below a heading of lessons that are in no lesson; absent for none.",
    )
