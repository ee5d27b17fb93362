"""The policy of a workspace as a Django form: one field per key, named as the key.

The form turns posted text into the values of a policy document. Whether a value is allowed is decided by
`controlplane.policy.rules.policy_document` alone, so that REST and this page refuse the same documents.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms
from django.forms import BoundField
from django.utils.translation import gettext_lazy as _

from controlplane.pages.settings.policy_fields import (
    ChoiceField,
    ChoicesField,
    Label,
    LinesField,
    NumberField,
    Option,
    PairsField,
    PlacesField,
    SwitchField,
    ToolClassesField,
)
from controlplane.policy.rules.policy_document import find_problems


class PolicyForm(forms.Form):
    """Every key of a policy document; `document` is the stored one, with all its keys."""

    use_required_attribute = False

    enforcement = ChoiceField(
        label=_("What the gate does"),
        choices=(
            (
                "enforce",
                Option(_("Enforce"), _("Denials stop the agent; asks wait for a person.")),
            ),
            (
                "monitor",
                Option(
                    _("Monitor"),
                    _("Decides and records as usual, but answers allow and says what enforcing would do."),
                ),
            ),
            ("off", Option(_("Off"), _("Every call is allowed. Nothing is protected."))),
        ),
    )
    when_unavailable = ChoiceField(
        label=_("When the workspace has no intents, or their file is corrupt"),
        choices=(
            ("deny_all", Option(_("Deny every call"), _("The agent can only select an intent."))),
            ("deny_destructive", Option(_("Deny changes"), _("Agents can still read."))),
        ),
    )
    shared_intents = ChoiceField(
        label=_("Two sessions on one intent"),
        choices=(
            (
                "deny",
                Option(_("One at a time"), _("While a live session has an intent, others cannot select it.")),
            ),
            ("allow", Option(_("Shared"), _("Several sessions may work on one intent at once."))),
        ),
    )
    session_idle_minutes = NumberField(
        label=_("Release an idle session's intent after (minutes)"),
        help_text=_("Others can then select it; the session gets it back if it is still free."),
    )
    conflicts = ChoiceField(
        label=_("A file that another agent works on"),
        help_text=_(
            "Changed by another live session since this one read it, or owned by another intent in progress."
        ),
        choices=(
            (
                "allow",
                Option(_("Mark it"), _("Decision and timeline say so; the call is judged as usual.")),
            ),
            ("ask", Option(_("Ask a person"), _("A reviewer decides who goes first."))),
            ("deny", Option(_("Deny it"), _("The agent is told to read the file again, or to leave it."))),
        ),
    )
    completion = ChoiceField(
        label=_("Who confirms that an intent is completed"),
        choices=(
            ("human", Option(_("A person"), _("The agent requests completion and notes what it verified."))),
            ("agent", Option(_("The agent"), _("The intent is completed at once."))),
        ),
    )
    empty_scope = ChoiceField(
        label=_("An intent without scope"),
        choices=(
            ("deny", Option(_("Owns nothing"), _("Every change is outside of its scope."))),
            (
                "allow",
                Option(
                    _("Owns everything"),
                    _("All paths of the workspace that are not protected or ignored."),
                ),
            ),
        ),
    )
    reads_outside_workspace = ChoiceField(
        label=_("Reading outside the workspace"),
        choices=(
            ("deny", Option(_("Denied"), _("Agents read files of the workspace only."))),
            ("allow", Option(_("Allowed"), _("Any file on their machine. Writing there stays denied."))),
        ),
    )
    places = PlacesField(
        label=_("Folders outside the workspace"),
        help_text=_(
            "One pattern per line, a colon and read or write: ~/.claude/plans/**: write. ~ is the home of "
            "whoever runs the agent. Credentials are in no place."
        ),
    )
    protected_paths = LinesField(
        label=_("Protected paths"),
        help_text=_(
            "One glob per line, compared without case. A scope opens a path by naming it without wildcards."
        ),
    )
    case_insensitive_paths = SwitchField(
        label=_("Compare paths without case"),
        help_text=_("For workspaces on case-insensitive file systems, the default of macOS and Windows."),
    )
    require_content_hash = SwitchField(
        label=_("Writes must name the content they replace"),
        help_text=_("A write to an existing file without expected_content_hash is denied as stale."),
    )
    require_mutation_class = SwitchField(
        label=_("write_to_file must name its mutation class"), help_text="AST_REFACTOR / INTENT_EVOLUTION"
    )
    tool_classes = ToolClassesField(
        label=_("Tool classes"),
        help_text=_(
            "One per line: a name or glob, a colon and the class, such as mcp__github__get_*: SAFE. "
            "Unknown tools are DESTRUCTIVE. Known file and shell tools can't be made safe."
        ),
    )
    safe_commands = LinesField(
        label=_("Safe commands"),
        help_text=_("One pattern per line, such as npm test. They run without an intent."),
    )
    effects = PairsField(
        label=_("What commands may do"),
        help_text=_(
            "One effect per line, a colon and allow, contain, ask or deny. contain: allowed where the client "
            "can contain the run, else a person is asked. Reads and writes of files go by scope."
        ),
    )
    containment = ChoiceField(
        label=_("Contained runs"),
        choices=(
            (
                "unknown",
                Option(
                    _("What would ask"),
                    _(
                        "A client that can contain commands runs them over a copy of the files; what they "
                        "change is judged afterwards."
                    ),
                ),
            ),
            ("all", Option(_("Every command"), _("All that are not known to only read."))),
            ("off", Option(_("Off"), _("A person is asked, whatever the client can do."))),
        ),
    )
    hosts = LinesField(
        label=_("Hosts that commands may read from"),
        help_text=_("One per line, such as github.com or *.example.org. Other addresses count as browsing."),
    )
    approvable = ChoicesField(
        label=_("Denials that a person may approve"),
        help_text=_("The others stay denied, and nobody is asked."),
        choices=(
            (
                "MISSING_OR_INVALID_INTENT",
                Option(_("No intent selected"), _("An agent can also select an intent instead of asking.")),
            ),
            (
                "SCOPE_VIOLATION",
                Option(
                    _("Outside the scope"),
                    _("Includes protected paths and unknown targets; never paths outside the workspace."),
                ),
            ),
            (
                "INTENTIGNORE_PATH_BLOCKED",
                Option(_("Ignored path"), _("A path that .intentignore hides from agents.")),
            ),
            ("STALE_FILE", Option(_("Stale file"), _("The file changed after the agent read it."))),
            (
                "INTENT_IGNORED",
                Option(_("Ignored intent"), _("An intent that .intentignore hides from agents.")),
            ),
            (
                "CONSTRAINT_VIOLATION",
                Option(_("Constraint"), _("A machine-checked constraint of the intent.")),
            ),
        ),
    )
    approval_timeout_minutes = NumberField(
        label=_("Minutes until an approval times out"),
        help_text=_("The ledger then records that nobody decided; the agent may ask again."),
    )
    freeze_after_denials = NumberField(
        label=_("Freeze a session after (different denied attempts at one thing)"),
        help_text=_(
            "Different calls for the same path, or denied for the same reason. 0: never. "
            "Reviewers are alerted at the third either way."
        ),
    )

    FIELDSETS: tuple[tuple[Label, tuple[str, ...]], ...] = (
        (_("Enforcement"), ("enforcement", "when_unavailable")),
        (
            _("Sessions and intents"),
            ("shared_intents", "session_idle_minutes", "conflicts", "completion"),
        ),
        (
            _("Files"),
            (
                "empty_scope",
                "reads_outside_workspace",
                "places",
                "protected_paths",
                "case_insensitive_paths",
                "require_content_hash",
                "require_mutation_class",
            ),
        ),
        (_("Tools and commands"), ("effects", "containment", "hosts", "tool_classes", "safe_commands")),
        (_("Approvals"), ("approvable", "approval_timeout_minutes", "freeze_after_denials")),
    )

    def __init__(self, data: Any = None, *, document: Mapping[str, Any]) -> None:
        # The ids are the names: the page's labels and links point at them.
        super().__init__(data, initial=dict(document), auto_id="%s")
        self.document = document
        self.changes: dict[str, Any] = {}

    def clean(self) -> None:
        """Check what was changed; a stored value that newer rules refuse stops no other change."""
        self.changes = {key: value for key, value in self.cleaned_data.items() if value != self.document[key]}
        for problem in find_problems(self.changes):
            self.add_error(problem.key, f"{problem.message} Allowed: {problem.allowed}.")

    def fieldsets(self) -> list[tuple[Label, list[BoundField]]]:
        return [(title, [self[name] for name in names]) for title, names in self.FIELDSETS]
