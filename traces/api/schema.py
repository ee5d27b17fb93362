"""The bodies of the ledger's API for OpenAPI; what a field means is said here once."""

from __future__ import annotations

from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiExample, OpenApiParameter, OpenApiResponse
from rest_framework import serializers as s

from controlplane.api.errors import ErrorAnswer
from controlplane.api.fields import BoolField, IntField, StrField
from controlplane.api.raw_body import JSON_LINES_TYPES, JSON_TYPE

Body = s.Serializer[Any]


class RangeBody(Body):
    start_line = IntField(min_value=0, help_text="From 1; 0 where no line is meant, as for a deleted file.")
    end_line = IntField(min_value=0, help_text="Inclusive.")
    content_hash = StrField(
        required=False, allow_null=True, help_text="`sha256:…`, or another algorithm's name and value."
    )


class RelatedBody(Body):
    type = StrField(help_text="`specification` for an intent.")
    value = StrField()


class ContributorBody(Body):
    entity_type = StrField(required=False, allow_null=True, help_text="AI, HUMAN, …")
    model_identifier = StrField(required=False, allow_null=True)


class ConversationBody(Body):
    url = StrField(required=False, allow_null=True, help_text="The session.")
    contributor = ContributorBody(required=False, allow_null=True)
    ranges = RangeBody(many=True, required=False)
    related = RelatedBody(many=True, required=False)


class FileBody(Body):
    relative_path = StrField(help_text="Relative to the workspace, with `/`.")
    content_hash = StrField(
        required=False, allow_null=True, help_text="Of the whole file, where the ranges do not tell."
    )
    conversations = ConversationBody(many=True, required=False)


class VcsBody(Body):
    revision_id = StrField(required=False, allow_null=True)


class EntryBody(Body):
    """One line of agent_trace.jsonl. Fields that are not named here are kept."""

    id = StrField(max_length=200, help_text="The same id with the same content is recorded once.")
    timestamp = StrField(help_text="RFC 3339.")
    vcs = VcsBody(required=False, allow_null=True)
    mutation_class = StrField(required=False, allow_null=True, help_text="AST_REFACTOR, INTENT_EVOLUTION, …")
    intent_id = StrField(
        required=False, allow_null=True, help_text="For files that name no intent themselves."
    )
    files = FileBody(many=True)


COMPUTED_CLASS = (
    "What the texts before and after say: AST_REFACTOR where layout, comments, order or names alone"
    " differ, else INTENT_EVOLUTION. Null where one of the texts, or the language, is not known."
)


class PlaceAnswer(Body):
    status = s.ChoiceField(choices=["pending", "sealed"])
    seq = IntField(allow_null=True, help_text="The place in the ledger, from 0; null while pending.")
    leaf_hash = StrField(help_text="Hex.")
    received_at = s.DateTimeField()
    session_id = StrField()
    intent_id = StrField()
    redacted = BoolField(help_text="True when the body was taken out; only the id is left of the entry.")
    archived_in = StrField(
        allow_null=True,
        help_text="The archive that holds the entry as it was recorded; here is an outline of its files.",
    )
    computed_mutation_class = StrField(allow_null=True, help_text=COMPUTED_CLASS)
    class_disagrees = BoolField(help_text="True when the agent claimed the other class.")


class TraceAnswer(Body):
    """The entry as it was recorded, with its place in the ledger beside it."""

    id = StrField()
    timestamp = StrField(required=False)
    vcs = s.JSONField(required=False, allow_null=True)
    mutation_class = StrField(required=False, allow_null=True)
    files = s.ListField(child=s.JSONField(), required=False)
    ledger = PlaceAnswer()


class TracePage(Body):
    results = TraceAnswer(many=True)
    next = StrField(allow_null=True)


class RemarkAnswer(Body):
    type = StrField()
    message = StrField()
    line = IntField(allow_null=True, help_text="From 1; null where the matter has no line.")


class ReceiptSignature(Body):
    key_id = StrField()
    signature = StrField(
        help_text="Ed25519, base64, over `receipt`, log, leaf hash and received_at, one per line."
    )


class ReceiptAnswer(Body):
    id = StrField()
    status = s.ChoiceField(choices=["pending"])
    leaf_hash = StrField()
    received_at = s.DateTimeField()
    receipt = ReceiptSignature()


class ForeignChainAnswer(Body):
    links = IntField(help_text="Records that carry the hash of the one before them.")
    verified = IntField(help_text="Links that hold.")
    first_break = IntField(allow_null=True, help_text="The line of the first that does not.")
    rule = StrField(help_text="How a record is hashed; empty where only the links could be compared.")


class ChangedAnswer(Body):
    count = IntField()
    ids = s.ListField(child=StrField(), help_text="At most 1,000.")


class RewriteAnswer(Body):
    altered = ChangedAnswer(help_text="The same id says something else now.")
    removed = ChangedAnswer(help_text="Stored, but gone from the file.")
    reordered = ChangedAnswer(help_text="Standing before what they stood behind.")
    inserted = ChangedAnswer(help_text="New, and standing before records that were there.")


class TraceReport(Body):
    valid = BoolField()
    entries = IntField(help_text="New entries.")
    duplicates = IntField(help_text="Entries that are there already, with the same content.")
    errors = RemarkAnswer(many=True)  # type: ignore[assignment]  # the metaclass takes fields out
    warnings = RemarkAnswer(many=True)
    warning_count = IntField(help_text="Of all warnings; the list ends at 1,000.")
    absent_revisions = IntField(help_text="Entries of a repository whose commit is not in it.")
    left_out = IntField(help_text="Records of a repository that could not be read; each has a warning.")
    foreign_chain = ForeignChainAnswer(allow_null=True, help_text="A hash chain of another tool.")
    rewrite = RewriteAnswer(allow_null=True, help_text="The file's past differs from what is stored.")


class PostedAnswer(TraceReport):
    results = ReceiptAnswer(many=True, help_text="One for each new entry, in order.")


class RefusedReport(ErrorAnswer, TraceReport):
    pass


class HeadAnswer(Body):
    log = StrField(help_text="The name of this workspace's log.")
    size = IntField(help_text="Sealed entries.")
    root = StrField(help_text="Hex.")  # type: ignore[assignment]  # the metaclass takes fields out
    waiting = IntField(help_text="Entries that are not sealed yet.")
    sealed_at = s.DateTimeField(allow_null=True)
    checkpoint = StrField(allow_null=True, help_text="The signed head (C2SP tlog-checkpoint).")
    verifier_key = StrField(help_text="The public key, `name+id+key`, as tools for signed notes take it.")


class LedgerProblem(Body):
    kind = StrField()
    text = StrField()
    entry_id = StrField(allow_null=True)
    seq = IntField(allow_null=True)


class SigningKeyAnswer(Body):
    key_id = StrField(help_text="Hex, as in the verifier key.")
    is_told = BoolField(help_text="False where no change that the key before signed introduces it.")
    heads = IntField(help_text="How many heads it signed.")


class VerifyAnswer(Body):
    ok = BoolField()
    size = IntField()
    root = StrField()  # type: ignore[assignment]  # the metaclass takes fields out
    checked = IntField(help_text="Sealed entries that were recomputed.")
    unsealed = IntField()
    redacted = IntField()
    archived = IntField(help_text="Entries whose bodies only an archive holds.")
    checkpoints = IntField()
    outside = IntField(
        help_text="Heads from outside that were compared. With none, a tail that was cut off with its heads, "
        "an older backup, a replaced key and a ledger written again are not noticed."
    )
    keys = SigningKeyAnswer(many=True, help_text="That signed the heads, oldest first.")
    problem_count = IntField()
    problems = LedgerProblem(many=True, help_text="The first hundred.")


class InclusionAnswer(Body):
    log = StrField()
    entry_id = StrField()
    seq = IntField()
    size = IntField()
    leaf_hash = StrField()
    root = StrField()  # type: ignore[assignment]  # the metaclass takes fields out
    hashes = s.ListField(child=StrField(), help_text="Siblings from leaf to root, hex (RFC 6962).")
    envelope = StrField(help_text="The bytes that the leaf hash is made of: SHA-256(0x00 ‖ envelope).")
    salt = StrField(
        allow_null=True,
        help_text="Hex; null once redacted or archived, and where the token may not read it.",
    )
    body = StrField(allow_null=True, help_text="The envelope's body_digest is SHA-256(salt ‖ body).")
    archived_in = StrField(allow_null=True, help_text="The archive that holds salt and body.")
    checkpoint = StrField(help_text="The signed head of this size.", allow_null=True)


class ConsistencyAnswer(Body):
    log = StrField()
    old_size = IntField()
    new_size = IntField()
    old_root = StrField()
    new_root = StrField()
    hashes = s.ListField(child=StrField())


class EntryProof(Body):
    entry_id = StrField()
    seq = IntField()
    envelope = StrField(help_text="The leaf is SHA-256(0x00 ‖ envelope).")
    hashes = s.ListField(child=StrField(), help_text="Siblings from leaf to root, hex (RFC 6962).")
    salt = StrField(allow_null=True, help_text="Hex; null with the body.")
    body = StrField(allow_null=True, help_text="Of traces; null once redacted or archived.")


class AnswerProof(Body):
    """Every entry that an answer names, proven against one signed head."""

    log = StrField()
    size = IntField()
    checkpoint = StrField(help_text="The signed head.")
    entries = EntryProof(many=True)


class SymbolAnswer(Body):
    name = StrField()
    kind = s.ChoiceField(choices=["function", "class", "method"])
    start_line = IntField(help_text="From 1.")
    end_line = IntField(help_text="Inclusive.")


class MapSection(Body):
    intent_id = StrField()
    name = StrField()
    files = s.ListField(child=StrField())
    symbols = s.DictField(
        child=SymbolAnswer(many=True),
        help_text="What each file defines after its newest change, by path; absent where that is not known.",
    )


class MapAnswer(Body):
    intents = MapSection(many=True)


class RedactBody(Body):
    reason = StrField(
        max_length=200,
        trim_whitespace=True,
        help_text="It stays readable for good: do not repeat the secret.",
    )


class RedactAnswer(Body):
    entry_id = StrField()
    redacted = BoolField()
    redaction_id = StrField(help_text="The ledger entry that says who took the body out and why.")
    redacted_at = s.DateTimeField()
    archived_in = StrField(
        allow_null=True,
        help_text="An archive that still holds the body; `archive_ledger --renew` rewrites it without.",
    )


ERRORS = {
    400: OpenApiResponse(ErrorAnswer, description="The request is malformed; `error` says where."),
    401: OpenApiResponse(ErrorAnswer, description="No token, or one that is unknown or revoked."),
    403: OpenApiResponse(ErrorAnswer, description="The token's role does not permit that."),
    404: OpenApiResponse(ErrorAnswer, description="No such entry in this workspace."),
    409: OpenApiResponse(RefusedReport, description="The same id was recorded with other content."),
    413: OpenApiResponse(ErrorAnswer, description="The body is too large."),
    415: OpenApiResponse(ErrorAnswer, description="The content type is none that this call reads."),
    429: OpenApiResponse(ErrorAnswer, description="Too many requests with this token; see Retry-After."),
    503: OpenApiResponse(ErrorAnswer, description="The database does not answer."),
}

NOT_PROVABLE = OpenApiResponse(ErrorAnswer, description="What is stored contradicts the signed head.")


def answers(successes: dict[Any, Any], *errors: int) -> dict[Any, Any]:
    """The documented answers of an operation: its successes, the named errors and those that any has."""
    return successes | {code: ERRORS[code] for code in sorted({400, 401, 403, 429, 503, *errors})}


def query(name: str, text: str, kind: Any = OpenApiTypes.STR, **options: Any) -> OpenApiParameter:
    return OpenApiParameter(name, kind, description=text, **options)


PROOF = query("proof", "Prove every entry that is named against a signed head.", OpenApiTypes.BOOL)
FILTERS = [
    query("intent", "Entries under this intent."),
    query("path", "Entries that changed this file, or a file below this folder."),
    query("session", "Entries of this session."),
    query("since", "Entries with a timestamp from here on, RFC 3339.", OpenApiTypes.DATETIME),
    query("until", "Entries with a timestamp before, RFC 3339.", OpenApiTypes.DATETIME),
]
LENIENT = query("lenient", "Recover what can be recovered, and list each repair.", OpenApiTypes.BOOL)
SOURCE = query("source", "Names the file, so that later versions are compared (agent_trace.jsonl).")
DRY_RUN = query("dry_run", "Say what would happen and change nothing.", OpenApiTypes.BOOL)
MAP_FORMAT = query("format", "markdown (the file) or json.", enum=["markdown", "json"])
EXPORT_FORMAT = query(
    "format", "agent_trace.jsonl, or Agent Trace 0.1.0.", enum=["orchestration", "agent-trace"]
)
RECORD_TYPE = "application/vnd.agent-trace.record+json"
FILE_TYPES = (*JSON_LINES_TYPES, RECORD_TYPE, "application/octet-stream")
ENTRY_TYPES = (JSON_TYPE, *FILE_TYPES)
FILE_REQUEST = dict.fromkeys(FILE_TYPES, OpenApiTypes.STR)
EXAMPLE_ENTRY = OpenApiExample(
    "One write",
    request_only=True,
    value={
        "id": "4a4c0d0e-7c8e-4b1e-9d57-0f3a4c2b1a00",
        "timestamp": "2026-02-21T12:00:00.000Z",
        "vcs": {"revision_id": "abc123"},
        "mutation_class": "INTENT_EVOLUTION",
        "files": [
            {
                "relative_path": "src/api/weather.ts",
                "conversations": [
                    {
                        "url": "session-1",
                        "contributor": {"entity_type": "AI", "model_identifier": "example-model"},
                        "ranges": [{"start_line": 1, "end_line": 50, "content_hash": "sha256:" + "ab" * 32}],
                        "related": [{"type": "specification", "value": "INT-001"}],
                    }
                ],
            }
        ],
    },
)
