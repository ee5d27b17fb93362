"""Triggers that make the evidence insert-only.

A body may be deleted when a redaction entry of its workspace names it in its idempotency key,
`redaction:<entry row id>`. On PostgreSQL the triggers are ENABLE ALWAYS, because
`session_replication_role = replica` silences ordinary ones. On SQLite `INSERT OR REPLACE` meets the
DELETE trigger only under `PRAGMA recursive_triggers`, which the settings switch on.
"""

from django.db import migrations

TABLES = (
    "traces_ledgerentry",
    "traces_ledgerbody",
    "traces_ledgerleaf",
    "traces_ledgertile",
    "traces_checkpoint",
)
BODIES = "traces_ledgerbody"
NAMED_BY_REDACTION = """EXISTS (
    SELECT 1 FROM traces_ledgerentry redaction
    JOIN traces_ledgerentry redacted ON redacted.workspace_id = redaction.workspace_id
    WHERE redacted.id = OLD.entry_id AND redaction.kind = 'redaction'
      AND redaction.idempotency_key = 'redaction:' || OLD.entry_id
)"""

POSTGRESQL_FUNCTIONS = f"""
CREATE FUNCTION ledger_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the ledger is insert-only: % on % refused', TG_OP, TG_TABLE_NAME
        USING ERRCODE = 'integrity_constraint_violation';
END $$;
CREATE FUNCTION ledger_refuse_unless_redacted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' AND {NAMED_BY_REDACTION} THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION 'the ledger is insert-only: % on % refused', TG_OP, TG_TABLE_NAME
        USING ERRCODE = 'integrity_constraint_violation';
END $$;
"""


def postgresql_triggers(table):
    function = "ledger_refuse_unless_redacted" if table == BODIES else "ledger_refuse"
    return f"""
        CREATE TRIGGER {table}_rows BEFORE UPDATE OR DELETE ON {table}
            FOR EACH ROW EXECUTE FUNCTION {function}();
        CREATE TRIGGER {table}_all BEFORE TRUNCATE ON {table}
            FOR EACH STATEMENT EXECUTE FUNCTION ledger_refuse();
        ALTER TABLE {table} ENABLE ALWAYS TRIGGER {table}_rows;
        ALTER TABLE {table} ENABLE ALWAYS TRIGGER {table}_all;
    """


def sqlite_triggers(table):
    exception = f"WHEN NOT {NAMED_BY_REDACTION}" if table == BODIES else ""
    refuse = "SELECT RAISE(ABORT, 'the ledger is insert-only');"
    return (
        f"CREATE TRIGGER {table}_update BEFORE UPDATE ON {table} BEGIN {refuse} END",
        f"CREATE TRIGGER {table}_delete BEFORE DELETE ON {table} {exception} BEGIN {refuse} END",
    )


def install(apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(POSTGRESQL_FUNCTIONS, params=None)
        statements = [postgresql_triggers(table) for table in TABLES]
    else:
        statements = [statement for table in TABLES for statement in sqlite_triggers(table)]
    for statement in statements:
        schema_editor.execute(statement, params=None)


def remove(apps, schema_editor):
    postgresql = schema_editor.connection.vendor == "postgresql"
    for table in TABLES:
        for suffix in ("rows", "all") if postgresql else ("update", "delete"):
            where = f" ON {table}" if postgresql else ""
            schema_editor.execute(f"DROP TRIGGER {table}_{suffix}{where}", params=None)
    if postgresql:
        schema_editor.execute("DROP FUNCTION ledger_refuse(); DROP FUNCTION ledger_refuse_unless_redacted()", params=None)


class Migration(migrations.Migration):
    dependencies = [("traces", "0001_initial")]

    operations = [migrations.RunPython(install, remove)]
