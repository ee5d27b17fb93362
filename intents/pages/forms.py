"""The form that creates or edits an intent."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from intents.file_format.report import ValidationReport
from intents.models import Intent
from intents.pages.text_area_lists import from_lines, to_lines


class JsonLinesField(forms.CharField):
    """A list with one item per line."""

    widget = forms.Textarea

    def __init__(self, **options: Any) -> None:
        super().__init__(required=False, strip=False, **options)

    def clean(self, value: Any) -> list[Any]:
        try:
            return from_lines(super().clean(value))
        except ValueError as error:
            raise forms.ValidationError(str(error)) from error


class IntentForm(forms.Form):
    """The fields of an intent's document; `scope` is its `owned_scope`.

    The rules of the registry are not repeated here: `add_report_errors` shows what the registry refused.
    """

    id = forms.CharField(max_length=200, help_text=_("Of the form INT-001."))
    name = forms.CharField(max_length=500)
    description = forms.CharField(required=False, widget=forms.Textarea)
    owner = forms.CharField(required=False, max_length=200)
    scope = JsonLinesField(
        help_text=_("One pattern per line. * stays in a folder, ** crosses folders, ! excludes.")
    )
    constraints = JsonLinesField(
        help_text=_('One per line. The gate checks a mapping: {"type": "max_file_lines", "max_lines": 400}')
    )
    acceptance_criteria = JsonLinesField(help_text=_("One per line."))
    dependencies = JsonLinesField(help_text=_("Ids of intents that must be completed first, one per line."))
    references = JsonLinesField(help_text=_("Documents and addresses, one per line."))
    allowed_commands = JsonLinesField(
        help_text=_("Kinds of commands that it may run without asking, such as go test. One per line.")
    )
    version = forms.IntegerField(required=False, widget=forms.HiddenInput)

    def __init__(self, *args: Any, intent: Intent | None = None, **kwargs: Any) -> None:
        if intent is not None:
            kwargs["initial"] = build_initial(intent)
        super().__init__(*args, **kwargs)
        if intent is not None:
            del self.fields["id"]

    def document(self) -> dict[str, Any]:
        """Return the cleaned fields by their names in the document."""
        document = dict(self.cleaned_data)
        del document["version"]
        document["owned_scope"] = document.pop("scope")
        return document

    def add_report_errors(self, report: ValidationReport) -> None:
        """Add each error of the registry to the field that it is about."""
        for diagnostic in report.errors:
            name = {"owned_scope": "scope"}.get(diagnostic.field or "", diagnostic.field)
            self.add_error(name if name in self.fields else None, diagnostic.message)


def build_initial(intent: Intent) -> dict[str, Any]:
    return {
        "name": intent.name,
        "description": intent.description,
        "owner": intent.owner,
        "scope": to_lines(intent.owned_scope),
        "constraints": to_lines(intent.constraints),
        "acceptance_criteria": to_lines(intent.acceptance_criteria),
        "dependencies": to_lines(intent.dependencies),
        "references": to_lines(intent.references),
        "allowed_commands": to_lines(intent.allowed_commands),
        "version": intent.version,
    }
