"""The policy as a form: every key with words that say what each choice does.

A form is values in, values out. Only `controlplane.policy.rules.policy_document` knows the values of a key.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from django.http import QueryDict


@dataclass(frozen=True, slots=True)
class Field:
    """One key. `kind`: choice | switch | number | lines | classes (lines of `name: CLASS`) | checks.
    `choices` are (value, label, what it does)."""

    name: str
    label: str
    kind: str
    help: str = ""
    choices: tuple[tuple[str, str, str], ...] = ()

    def read(self, post: QueryDict) -> Any:
        """What was posted, in the form of a policy document; nonsense is passed on and refused there."""
        if self.kind == "switch":
            return self.name in post
        if self.kind == "checks":
            return post.getlist(self.name)
        text = post.get(self.name, "").strip()
        if self.kind == "number":
            return int(text) if text.isascii() and text.isdigit() and len(text) < 12 else text
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        if self.kind == "classes":
            named = (line.rpartition(":") for line in lines)
            return {name.strip(): cls.strip().upper() for name, _, cls in named}
        return lines if self.kind == "lines" else text

    def shown(self, value: Any, error: str) -> dict[str, Any]:
        """As templates/settings/_policy_field.html wants it."""
        chosen = value if isinstance(value, list) else [value]
        return {
            "name": self.name,
            "label": self.label,
            "help": self.help,
            "error": error,
            "kind": "lines" if self.kind == "classes" else self.kind,
            "value": self._text(value),
            "choices": [
                {"value": word, "label": label, "says": says, "checked": word in chosen}
                for word, label, says in self.choices
            ],
        }

    def _text(self, value: Any) -> Any:
        if isinstance(value, Mapping):
            return "\n".join(f"{name}: {cls}" if name else str(cls) for name, cls in value.items())
        return "\n".join(value) if isinstance(value, list) else value


APPROVABLE: tuple[tuple[str, str, str], ...] = (
    (
        "MISSING_OR_INVALID_INTENT",
        "No intent selected",
        "Without one an agent could also take one by itself.",
    ),
    (
        "SCOPE_VIOLATION",
        "Outside the scope",
        "Protected paths and unknown targets too; never outside the workspace.",
    ),
    ("INTENTIGNORE_PATH_BLOCKED", "Ignored path", "A path that .intentignore keeps from agents."),
    ("STALE_FILE", "Stale file", "The file changed after the agent had read it."),
    ("INTENT_IGNORED", "Ignored intent", "An intent that .intentignore keeps from agents."),
    ("CONSTRAINT_VIOLATION", "Constraint", "A machine-checked constraint of the intent."),
)

GROUPS: tuple[tuple[str, tuple[Field, ...]], ...] = (
    (
        "Enforcement",
        (
            Field(
                "enforcement",
                "What the gate does",
                "choice",
                choices=(
                    ("enforce", "Enforce", "Denials stop the agent, asks hold it until a human decides."),
                    (
                        "monitor",
                        "Monitor",
                        "Decides and records as usual, but answers allow with what it would have been.",
                    ),
                    ("off", "Off", "Every call is allowed. Nothing is protected."),
                ),
            ),
            Field(
                "when_unavailable",
                "Without intents, or with a corrupt file of them",
                "choice",
                choices=(
                    ("deny_all", "Deny every call", "The agent can only take an intent."),
                    ("deny_destructive", "Deny changes", "Reading goes on."),
                ),
            ),
        ),
    ),
    (
        "Sessions and intents",
        (
            Field(
                "shared_intents",
                "Two sessions on one intent",
                "choice",
                choices=(
                    ("deny", "One at a time", "An intent held by a live session is refused to others."),
                    ("allow", "Shared", "Several sessions may work on one intent at once."),
                ),
            ),
            Field(
                "session_idle_minutes",
                "Minutes of silence after which a session holds nothing",
                "number",
                "Its intent is free for others then; it gets it back if it is still free.",
            ),
            Field(
                "conflicts",
                "A file that another agent works on",
                "choice",
                "Changed by another live session since this one looked, or owned by another open intent.",
                choices=(
                    (
                        "allow",
                        "Mark it",
                        "The decision and its timeline say so; the call is judged as usual.",
                    ),
                    ("ask", "Ask a human", "Somebody decides who goes first."),
                    ("deny", "Refuse it", "The agent is told to read the file again, or to leave it."),
                ),
            ),
            Field(
                "completion",
                "Who says that an intent is completed",
                "choice",
                choices=(
                    ("human", "A human", "The agent asks with its notes on what it verified."),
                    ("agent", "The agent", "It is completed at once."),
                ),
            ),
        ),
    ),
    (
        "Files",
        (
            Field(
                "empty_scope",
                "An intent without scope",
                "choice",
                choices=(
                    ("deny", "Owns nothing", "Every change is outside of it."),
                    (
                        "allow",
                        "Owns everything",
                        "Every path of the workspace that is not protected or ignored.",
                    ),
                ),
            ),
            Field(
                "reads_outside_workspace",
                "Reading outside the workspace",
                "choice",
                choices=(
                    ("deny", "Denied", "Agents read the workspace only."),
                    ("allow", "Allowed", "Any file of their machine. Writing there stays denied."),
                ),
            ),
            Field(
                "protected_paths",
                "Protected paths",
                "lines",
                "One glob a line, compared without case. A scope opens one by naming it without wildcards.",
            ),
            Field(
                "case_insensitive_paths",
                "Compare paths without case",
                "switch",
                "For workspaces on file systems that do so, such as those of macOS and Windows.",
            ),
            Field(
                "require_content_hash",
                "Writes must name the content they replace",
                "switch",
                "A write to an existing file without expected_content_hash is refused as stale.",
            ),
            Field(
                "require_mutation_class",
                "write_to_file must name its mutation class",
                "switch",
                "AST_REFACTOR or INTENT_EVOLUTION.",
            ),
        ),
    ),
    (
        "Tools and commands",
        (
            Field(
                "tool_classes",
                "Tool classes",
                "classes",
                "One a line: a name or glob, a colon and the class, such as mcp__github__get_*: SAFE. "
                "Unknown tools are DESTRUCTIVE. Known file and shell tools can't be made safe.",
            ),
            Field(
                "safe_commands",
                "Safe commands",
                "lines",
                "One pattern a line, such as npm test. They run without an intent.",
            ),
        ),
    ),
    (
        "Approvals",
        (
            Field(
                "approvable",
                "Denials that a human may approve",
                "checks",
                "What is not ticked stays denied, and nobody is asked.",
                APPROVABLE,
            ),
            Field(
                "approval_timeout_minutes",
                "Minutes until an approval times out",
                "number",
                "Then it is recorded that nobody decided; the agent may ask again.",
            ),
            Field(
                "freeze_after_denials",
                "Refused attempts at one thing that freeze a session",
                "number",
                "Different calls for the same path, or stopped for the same reason. 0: never. "
                "Reviewers are alerted at the third either way.",
            ),
        ),
    ),
)

FIELDS: tuple[Field, ...] = tuple(field for _, fields in GROUPS for field in fields)


def from_post(post: QueryDict) -> dict[str, Any]:
    """The posted form as a policy document with every key."""
    return {field.name: field.read(post) for field in FIELDS}


def groups(document: Mapping[str, Any], errors: Mapping[str, str]) -> list[dict[str, Any]]:
    """The form for a document, with what is wrong beside the field."""
    return [
        {
            "title": title,
            "fields": [field.shown(document[field.name], errors.get(field.name, "")) for field in fields],
        }
        for title, fields in GROUPS
    ]
