"""Table and column names for SQL that the ORM cannot say, taken from the models."""

from __future__ import annotations

from django.db.models import Field, Model


def table_name(model: type[Model]) -> str:
    return model._meta.db_table


def column(model: type[Model], field_name: str) -> str:
    """Return the column of a field. Raise FieldDoesNotExist at import for one that was renamed."""
    field = model._meta.get_field(field_name)
    assert isinstance(field, Field)
    assert field.column is not None  # only many-to-many fields have none
    return field.column
