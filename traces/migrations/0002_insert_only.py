"""Triggers that make the ledger insert-only.

A body may be deleted for two reasons only. Either a redaction entry of its workspace names it in its idempotency
key, `redaction:<entry row id>`. Or an archive covers its place in the tree and its kind may be archived; entries
of other kinds keep their bodies.

On PostgreSQL the triggers are ENABLE ALWAYS, because `session_replication_role = replica` silences ordinary ones.
On SQLite `INSERT OR REPLACE` meets the DELETE trigger only under `PRAGMA recursive_triggers`, which the settings
switch on.
"""

from django.db import migrations

BODIES = "traces_ledgerbody"
TABLES = (
    "traces_ledgerentry",
    BODIES,
    "traces_ledgerleaf",
    "traces_ledgertile",
    "traces_checkpoint",
    "traces_ledgerarchive",
)
IS_REDACTED = """EXISTS (
    SELECT 1 FROM traces_ledgerentry redaction
    JOIN traces_ledgerentry redacted ON redacted.workspace_id = redaction.workspace_id
    WHERE redacted.id = OLD.entry_id AND redaction.kind = 'redaction'
      AND redaction.idempotency_key = 'redaction:' || OLD.entry_id
)"""
IS_ARCHIVED = """EXISTS (
    SELECT 1 FROM traces_ledgerleaf leaf
    JOIN traces_ledgerentry archived ON archived.id = leaf.entry_id
    JOIN traces_ledgerarchive archive ON archive.workspace_id = leaf.workspace_id
      AND archive.first_seq <= leaf.seq AND leaf.seq < archive.end_seq
    WHERE leaf.entry_id = OLD.entry_id
      AND archived.kind IN ('decision', 'approval', 'trace', 'session', 'import')
)"""
MAY_BE_DELETED = f"{IS_REDACTED} OR {IS_ARCHIVED}"
REFUSED = "the ledger is insert-only"

POSTGRESQL_FUNCTIONS = f"""
CREATE FUNCTION ledger_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '{REFUSED}: % on % refused', TG_OP, TG_TABLE_NAME
        USING ERRCODE = 'integrity_constraint_violation';
END $$;

CREATE FUNCTION ledger_guard_bodies() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' AND ({MAY_BE_DELETED}) THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION '{REFUSED}: % on % refused', TG_OP, TG_TABLE_NAME
        USING ERRCODE = 'integrity_constraint_violation';
END $$;
"""


def postgresql_triggers(table):
    function = "ledger_guard_bodies" if table == BODIES else "ledger_refuse"
    return [f"""
        CREATE TRIGGER {table}_rows BEFORE UPDATE OR DELETE ON {table}
            FOR EACH ROW EXECUTE FUNCTION {function}();
        CREATE TRIGGER {table}_all BEFORE TRUNCATE ON {table}
            FOR EACH STATEMENT EXECUTE FUNCTION ledger_refuse();
        ALTER TABLE {table} ENABLE ALWAYS TRIGGER {table}_rows;
        ALTER TABLE {table} ENABLE ALWAYS TRIGGER {table}_all;
    """]


def sqlite_triggers(table):
    condition = f"WHEN NOT ({MAY_BE_DELETED})" if table == BODIES else ""
    refuse = f"SELECT RAISE(ABORT, '{REFUSED}');"
    return [
        f"CREATE TRIGGER {table}_update BEFORE UPDATE ON {table} BEGIN {refuse} END",
        f"CREATE TRIGGER {table}_delete BEFORE DELETE ON {table} {condition} BEGIN {refuse} END",
    ]


def install(apps, schema_editor):
    on_postgresql = schema_editor.connection.vendor == "postgresql"
    triggers = postgresql_triggers if on_postgresql else sqlite_triggers
    statements = [statement for table in TABLES for statement in triggers(table)]
    for statement in [POSTGRESQL_FUNCTIONS, *statements] if on_postgresql else statements:
        schema_editor.execute(statement, params=None)


def remove(apps, schema_editor):
    on_postgresql = schema_editor.connection.vendor == "postgresql"
    for table in TABLES:
        for suffix in ("rows", "all") if on_postgresql else ("update", "delete"):
            where = f" ON {table}" if on_postgresql else ""
            schema_editor.execute(f"DROP TRIGGER {table}_{suffix}{where}", params=None)
    if on_postgresql:
        schema_editor.execute("DROP FUNCTION ledger_refuse(); DROP FUNCTION ledger_guard_bodies()", params=None)


class Migration(migrations.Migration):
    dependencies = [("traces", "0001_initial")]
    operations = [migrations.RunPython(install, remove)]
