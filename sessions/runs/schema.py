"""Bodies of the API of contained runs."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers as s

from controlplane.api.fields import BoolField, IntField, StrField
from sessions.api_schema import Body
from sessions.gate.schema import ApprovalBrief
from sessions.runs.texts import hash_text

CHANGES = ("created", "modified", "deleted", "mode", "link")
MAX_FILES = 20_000
HASH = r"^sha256:[0-9a-f]{64}$"


class HashField(StrField):
    def __init__(self, **kwargs: Any) -> None:
        super().__init__(allow_null=True, required=False, default=None, max_length=71, **kwargs)

    def to_internal_value(self, data: Any) -> str:
        value = super().to_internal_value(data)
        if not (
            value.startswith("sha256:") and len(value) == 71 and set(value[7:]) <= set("0123456789abcdef")
        ):
            raise s.ValidationError("Must be sha256: and 64 hexadecimal digits.")
        return value


class ChangedFile(Body):
    path = StrField(max_length=4096, help_text="Relative to the workspace.")
    change = s.ChoiceField(choices=CHANGES)
    before = HashField(help_text="Null where there was no file.")
    after = HashField(help_text="Null where there is none any more. Of a link: of its text.")
    size = IntField(required=False, default=0, min_value=0, max_value=2**62)
    diff = StrField(required=False, allow_null=True, allow_blank=True, help_text="Unified, of a text file.")
    content = StrField(
        required=False, allow_null=True, allow_blank=True, help_text="The text of the file now."
    )
    target = StrField(required=False, allow_null=True, max_length=4096, help_text="What a link points to.")
    mode = StrField(required=False, allow_null=True, max_length=6, help_text="Permissions, octal.")
    ignored = BoolField(
        required=False, default=False, help_text="Whether the repository's .gitignore names it."
    )
    stale = BoolField(
        required=False, default=False, help_text="Whether the file below was changed while the command ran."
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        gone, content = attrs["change"] == "deleted", attrs.get("content")
        if gone != (attrs["after"] is None) or (gone and attrs["before"] is None):
            raise s.ValidationError(
                {"after": "A deleted file has a hash before and none after, any other one has it after."}
            )
        if content is not None and hash_text(content) != attrs["after"]:
            raise s.ValidationError({"content": "It is not the text whose hash is `after`."})
        return attrs


class RunReportBody(Body):
    exit_code = IntField(min_value=-255, max_value=255)
    duration_ms = IntField(min_value=0, max_value=2**31 - 1)
    files = ChangedFile(many=True)

    def validate_files(self, files: list[dict[str, Any]]) -> list[dict[str, Any]]:
        if len(files) > MAX_FILES:
            raise s.ValidationError(f"At most {MAX_FILES:,} files. Run fewer things at once.")
        paths = [row["path"] for row in files]
        if len(set(paths)) != len(paths):
            raise s.ValidationError("A path stands twice.")
        return files


class RefusedFile(Body):
    path = StrField(max_length=4096)
    reason = StrField(max_length=400, help_text="In words, for people.")


class LandBody(Body):
    refused = RefusedFile(
        many=True,
        required=False,
        help_text="What was to land by an earlier answer and could not, e.g. because the file has changed.",
    )


class RunAnswer(Body):
    decision = s.ChoiceField(choices=["allow", "ask", "deny"], help_text="The strictest of all files.")
    land = s.ListField(child=StrField(), help_text="What the client lands now.")
    hold = s.ListField(child=StrField(), help_text="What waits for a person.")
    discard = s.ListField(child=StrField(), help_text="What is thrown away.")
    approval = ApprovalBrief(allow_null=True)
