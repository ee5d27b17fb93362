"""Fields of the policy form: each turns posted text into a value of a policy document."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django import forms
from django.utils.functional import Promise

Label = str | Promise
MAX_NUMBER_DIGITS = 11  # more is left as text, which the rules refuse


@dataclass(frozen=True, slots=True)
class Option:
    """The label of a choice, with a sentence on what choosing it does."""

    label: Label
    explanation: Label

    def __str__(self) -> str:
        return str(self.label)


class PolicyField(forms.Field):
    """A field that accepts anything: the policy's rules judge the value."""

    def __init__(self, **options: Any) -> None:
        super().__init__(required=False, **options)

    def validate(self, value: Any) -> None:
        pass


class ChoiceField(PolicyField, forms.ChoiceField):
    widget = forms.RadioSelect


class ChoicesField(PolicyField, forms.MultipleChoiceField):
    widget = forms.CheckboxSelectMultiple


class SwitchField(PolicyField, forms.BooleanField):
    widget = forms.CheckboxInput


class NumberField(PolicyField):
    widget = forms.NumberInput

    def to_python(self, value: str | None) -> int | str:
        text = (value or "").strip()
        is_number = text.isascii() and text.isdigit() and len(text) <= MAX_NUMBER_DIGITS
        return int(text) if is_number else text


class LinesField(PolicyField):
    """A list of texts, one per line."""

    widget = forms.Textarea

    def to_python(self, value: str | None) -> Any:
        return [line.strip() for line in (value or "").splitlines() if line.strip()]

    def prepare_value(self, value: Any) -> str:
        return value if isinstance(value, str) else "\n".join(value or ())


class PairsField(LinesField):
    """A mapping, one `name: word` per line."""

    def to_python(self, value: str | None) -> Any:
        # The last colon separates: names of MCP tools may hold colons, words never do.
        rows = (line.rpartition(":") for line in super().to_python(value))
        return {name.strip(): self.to_word(word.strip()) for name, _, word in rows}

    def to_word(self, text: str) -> str:
        return text.lower()

    def prepare_value(self, value: Any) -> str:
        if isinstance(value, Mapping):
            value = [f"{name}: {word}" for name, word in value.items()]
        return super().prepare_value(value)


class ToolClassesField(PairsField):
    """A mapping of tool names or globs to classes, one `name: CLASS` per line."""

    def to_word(self, text: str) -> str:
        return text.upper()


class PlacesField(PairsField):
    """A list of folders with what agents may do there, one `pattern: access` per line."""

    def to_python(self, value: str | None) -> Any:
        return [
            {"pattern": pattern, "access": access} for pattern, access in super().to_python(value).items()
        ]

    def prepare_value(self, value: Any) -> str:
        if isinstance(value, list):
            value = [f"{place['pattern']}: {place['access']}" for place in value]
        return super().prepare_value(value)
