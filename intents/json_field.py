"""A model field for JSON that keeps the order of keys."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from django.db import models


class JsonTextField(models.TextField):  # type: ignore[type-arg]  # the class is generic in stubs only
    """JSON stored as text: PostgreSQL's `jsonb` would sort the keys of a document and so change it."""

    if TYPE_CHECKING:  # the stubs read these: any JSON value may be set and read
        _pyi_private_set_type: Any
        _pyi_private_get_type: Any

    def from_db_value(self, value: str | None, *_: Any) -> Any:
        return None if value is None else json.loads(value)

    def get_prep_value(self, value: Any) -> str | None:
        return None if value is None else json.dumps(value, ensure_ascii=False, separators=(",", ":"))

    def to_python(self, value: Any) -> Any:
        return value

    def value_to_string(self, obj: models.Model) -> str:
        return self.get_prep_value(self.value_from_object(obj)) or ""
