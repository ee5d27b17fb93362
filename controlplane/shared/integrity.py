"""Tell which constraint an `IntegrityError` is about."""

from __future__ import annotations

from django.db import IntegrityError
from django.db.models import Field, Model, UniqueConstraint


def is_violation(error: IntegrityError, model: type[Model], constraint_name: str) -> bool:
    """Return whether `error` says that this unique constraint of `model` is violated.

    PostgreSQL names the constraint. SQLite names the columns instead.
    """
    diagnostics = getattr(error.__cause__, "diag", None)
    if diagnostics is not None:
        return bool(diagnostics.constraint_name == constraint_name)
    options = model._meta
    constraint = next(c for c in options.constraints if c.name == constraint_name)
    assert isinstance(constraint, UniqueConstraint)
    fields = (options.get_field(name) for name in constraint.fields)
    columns = (f"{options.db_table}.{field.column}" for field in fields if isinstance(field, Field))
    return str(error) == f"UNIQUE constraint failed: {', '.join(columns)}"
