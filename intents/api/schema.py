"""Serializers, parameters and examples of the intents API, for validation and OpenAPI."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import OpenApiExample, OpenApiParameter, OpenApiResponse, extend_schema_field
from rest_framework import serializers as s

from controlplane.api.errors import ErrorAnswer
from controlplane.api.fields import BoolField, IntField, StrField
from controlplane.policy.model import IntentStatus
from intents.evidence.schema import RECORDS
from intents.file_format.report import DiagnosticType

Body = s.Serializer[Any]
STATUSES = [status.value for status in IntentStatus]
TEXTS = {"child": StrField(), "required": False}

SCOPE = "Glob patterns, relative to the workspace: `src/**`, `!src/legacy/**`."
KINDS = "Kinds of commands that its sessions may run without asking: `go test`, `git push`."
CONSTRAINTS = "Texts, or mappings with a `type` that the gate checks."

KINDS = "Kinds of commands that the intent may run without asking, such as `go test` or `git push`."


@extend_schema_field(RECORDS)
class EvidenceField(s.JSONField):
    """Records of `acceptance_evidence`; the registry has checked their form."""


class IntentFields(Body):
    """The fields that a client may set, named as in the document."""

    name = StrField(required=False, allow_blank=True)
    description = StrField(required=False, allow_blank=True)
    status = StrField(required=False, help_text=f"One of {', '.join(STATUSES)}.")
    owner = StrField(required=False, allow_blank=True, allow_null=True)
    owned_scope = s.ListField(child=StrField(), required=False, help_text=SCOPE)
    constraints = s.ListField(child=s.JSONField(), required=False, help_text=CONSTRAINTS)
    acceptance_criteria = s.ListField(child=StrField(), required=False)
    dependencies = s.ListField(
        child=StrField(), required=False, help_text="Ids of intents that must be completed first."
    )
    references = s.ListField(child=s.JSONField(), required=False, help_text="Texts, or mappings.")
    allowed_commands = s.ListField(child=StrField(), required=False, help_text=KINDS)
    blocked_reason = StrField(required=False, allow_blank=True, allow_null=True)
    extra = s.DictField(required=False, help_text="Fields of your own; stored and exported.")


class NewIntentBody(IntentFields):
    id = StrField(help_text="Of the form INT-001.")
    status = StrField(default=IntentStatus.PENDING.value, help_text=f"One of {', '.join(STATUSES)}.")
    owned_scope = s.ListField(child=StrField(), help_text=SCOPE)
    created_at = StrField(required=False, help_text="ISO 8601; now when absent.")
    updated_at = StrField(required=False, help_text="ISO 8601; now when absent.")
    reason = StrField(
        required=False, allow_blank=True, max_length=2000, help_text="Stored with the revision."
    )


class IntentChangeBody(IntentFields):
    version = IntField(required=False, min_value=1, help_text="The version you read, unless If-Match has it.")
    reason = StrField(
        required=False, allow_blank=True, max_length=2000, help_text="Stored with the revision."
    )


class IntentAnswer(Body):
    id = StrField()
    name = StrField()
    description = StrField()
    status = s.ChoiceField(choices=STATUSES)
    raw_status = StrField(help_text="The status as written in the imported file.")
    owner = StrField(allow_null=True)
    created_at = StrField(allow_null=True, help_text="As the document says it.")
    updated_at = StrField(allow_null=True, help_text="As the document says it.")
    owned_scope = s.ListField(child=StrField(), help_text=SCOPE)
    constraints = s.ListField(child=s.JSONField(), help_text=CONSTRAINTS)
    acceptance_criteria = s.ListField(child=StrField())
    acceptance_evidence = EvidenceField()
    dependencies = s.ListField(child=StrField())
    references = s.ListField(child=s.JSONField())
    allowed_commands = s.ListField(child=StrField(), help_text=KINDS)
    blocked_reason = StrField(allow_null=True)
    extra = s.DictField(help_text="Fields that the product has no rule for.")
    version = IntField(help_text="The number of the newest revision.")


class IntentPage(Body):
    results = IntentAnswer(many=True)
    next = StrField(allow_null=True)


class ProblemAnswer(Body):
    type = s.ChoiceField(choices=[kind.value for kind in DiagnosticType])
    message = StrField()
    intent_id = StrField(required=False)
    field = StrField(required=False)
    line = IntField(required=False, help_text="Counts from 1.")
    path = StrField(required=False, help_text="SCOPE_OVERLAP: a path that both intents own.")
    other_intent_id = StrField(required=False, help_text="SCOPE_OVERLAP: the second intent.")


class SavedIntentAnswer(IntentAnswer):
    warnings = ProblemAnswer(
        many=True, required=False, help_text="UNKNOWN_CONSTRAINT_TYPE: what the gate does not check."
    )


class ReportAnswer(Body):
    valid = BoolField()
    errors = ProblemAnswer(many=True, required=False)  # type: ignore[assignment]  # declared, not the property
    warnings = ProblemAnswer(many=True)


class ChangedIntent(Body):
    intent_id = StrField()
    fields = s.ListField(child=StrField(), help_text="Names of the changed fields.")  # type: ignore[assignment]  # declared, not the property


class PlanAnswer(Body):
    added = s.ListField(child=StrField())
    changed = ChangedIntent(many=True)
    removed = s.ListField(child=StrField(), help_text="Empty unless `mode` is `replace`.")
    unchanged = s.ListField(child=StrField())


class ImportAnswer(ReportAnswer):
    mode = s.ChoiceField(choices=["merge", "replace"])
    dry_run = BoolField()
    applied = BoolField(help_text="Whether the registry was changed to match the file.")
    plan = PlanAnswer()


class RefusedIntents(ErrorAnswer):
    """An error with the report that explains it."""

    valid = BoolField(required=False)
    errors = ProblemAnswer(many=True, required=False)  # type: ignore[assignment]  # declared, not the property
    warnings = ProblemAnswer(many=True, required=False)


class IgnoreWarning(Body):
    line = IntField()
    text = StrField()
    message = StrField()


class IgnoreAnswer(Body):
    saved = BoolField()
    warnings = IgnoreWarning(many=True)


_DESCRIPTIONS = {
    400: "The request is malformed; `error` names the field.",
    401: "No token, or one that is unknown or revoked.",
    403: "The token's role does not permit that.",
    404: "No such intent in this workspace.",
    409: "`DUPLICATE_ID`: the id is taken. `STATUS_MOVE_REFUSED`: no move leads to that status.",
    412: "`VERSION_REQUIRED`: none was sent. `VERSION_CONFLICT`: the current one is in `version`.",
    415: "Unsupported content type.",
    429: "Too many requests with this token; see Retry-After.",
    503: "The database does not answer.",
}
ERRORS = {code: OpenApiResponse(ErrorAnswer, description=text) for code, text in _DESCRIPTIONS.items()}
REFUSED = OpenApiResponse(
    RefusedIntents, description="Invalid: nothing was changed. `error_type` is the type of the first error."
)


def responses_for(status_code: Any, body: Any, *errors: int, refused: bool = False) -> dict[Any, Any]:
    """Return the documented responses of an operation: its success, `errors`, and those that any may have.

    `refused` documents a 400 that has the report of the file or intent.
    """
    responses = {
        status_code: body,
        **{code: ERRORS[code] for code in sorted({400, 401, 403, 429, 503, *errors})},
    }
    return {**responses, 400: REFUSED} if refused else responses


IF_MATCH = OpenApiParameter(
    "If-Match", str, OpenApiParameter.HEADER, description='The version you read, as `"3"`; or send `version`.'
)
LENIENT = OpenApiParameter("lenient", bool, description="Fix common mistakes; each fix is a warning.")
DRY_RUN = OpenApiParameter("dry_run", bool, description="Return the report and the plan; change nothing.")
MODE = OpenApiParameter(
    "mode", str, enum=["merge", "replace"],
    description="`merge` (default) adds and changes; `replace` also deletes intents missing from the file.",
)  # fmt: skip
STATUS = OpenApiParameter("status", str, enum=STATUSES, description="Only intents of this status.")

EXAMPLE_FILE = OpenApiExample(
    "active_intents.yaml",
    value=(
        "active_intents:\n  - id: INT-001\n    name: Implement JWT authentication\n    status: IN_PROGRESS\n"
        '    owned_scope: ["src/auth/**"]\n    constraints: [Use bcrypt]\n'
        "    acceptance_criteria: [Tests pass]\n"
    ),
    request_only=True,
)
EXAMPLE_INTENT = OpenApiExample(
    "A new intent",
    value={
        "id": "INT-001",
        "name": "Implement JWT authentication",
        "owned_scope": ["src/auth/**", "!src/auth/legacy/**"],
        "constraints": ["Use bcrypt", {"type": "max_file_lines", "max_lines": 400}],
        "acceptance_criteria": ["Tests pass"],
    },
    request_only=True,
)
