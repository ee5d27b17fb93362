"""Salt the digests of projected rows, and guard the tables of projections by triggers.

Their rows follow from entries, so nobody has a reason to change one. They may be deleted where a redaction names
their entry: `redaction:<entry row id>` is its idempotency key. A later migration that rebuilds one of these tables
on SQLite has to install its triggers again; a test holds that all of them are there.
"""

from django.db import migrations, models

ENTRY_OF = {
    "traces_traceentry": "OLD.entry_id",
    "traces_tracefile": "OLD.entry_id",
    "traces_tracerange": "(SELECT file.entry_id FROM traces_tracefile file WHERE file.id = OLD.file_id)",
    "traces_reconciledsubject": "OLD.entry_id",
}
REFUSED = "the rows of entries follow from the ledger"


def is_redacted(table):
    return f"""EXISTS (
        SELECT 1 FROM traces_ledgerentry redacted
        JOIN traces_ledgerentry redaction ON redaction.workspace_id = redacted.workspace_id
        WHERE redacted.id = {ENTRY_OF[table]} AND redaction.kind = 'redaction'
          AND redaction.idempotency_key = 'redaction:' || redacted.id
    )"""


def postgresql_statements(table):
    return f"""
        CREATE FUNCTION {table}_guard() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            IF TG_OP = 'DELETE' AND ({is_redacted(table)}) THEN
                RETURN OLD;
            END IF;
            RAISE EXCEPTION '{REFUSED}: % on % refused', TG_OP, TG_TABLE_NAME
                USING ERRCODE = 'integrity_constraint_violation';
        END $$;
        CREATE TRIGGER {table}_rows BEFORE UPDATE OR DELETE ON {table}
            FOR EACH ROW EXECUTE FUNCTION {table}_guard();
        CREATE TRIGGER {table}_all BEFORE TRUNCATE ON {table}
            FOR EACH STATEMENT EXECUTE FUNCTION ledger_refuse();
        ALTER TABLE {table} ENABLE ALWAYS TRIGGER {table}_rows;
        ALTER TABLE {table} ENABLE ALWAYS TRIGGER {table}_all;
    """


def sqlite_statements(table):
    refuse = f"SELECT RAISE(ABORT, '{REFUSED}');"
    return [
        f"CREATE TRIGGER {table}_update BEFORE UPDATE ON {table} BEGIN {refuse} END",
        f"""CREATE TRIGGER {table}_delete BEFORE DELETE ON {table}
            WHEN NOT ({is_redacted(table)}) BEGIN {refuse} END""",
    ]


def install(apps, schema_editor):
    for table in ENTRY_OF:
        if schema_editor.connection.vendor == "postgresql":
            schema_editor.execute(postgresql_statements(table), params=None)
        else:
            for statement in sqlite_statements(table):
                schema_editor.execute(statement, params=None)


def remove(apps, schema_editor):
    on_postgresql = schema_editor.connection.vendor == "postgresql"
    for table in ENTRY_OF:
        for suffix in ("rows", "all") if on_postgresql else ("update", "delete"):
            where = f" ON {table}" if on_postgresql else ""
            schema_editor.execute(f"DROP TRIGGER {table}_{suffix}{where}", params=None)
        if on_postgresql:
            schema_editor.execute(f"DROP FUNCTION {table}_guard()", params=None)


class Migration(migrations.Migration):
    dependencies = [("traces", "0003_tracefile_symbols")]
    operations = [
        migrations.AddField("tracefile", "salt", models.BinaryField(default=b"")),
        migrations.CreateModel(
            name="LedgerCheck",
            fields=[
                ("workspace_id", models.BigIntegerField(primary_key=True, serialize=False)),
                ("next_seq", models.BigIntegerField(default=0)),
                ("frontier", models.BinaryField(default=b"")),
                ("started_at", models.DateTimeField(null=True)),
                ("problems", models.JSONField(default=list)),
                ("completed_at", models.DateTimeField(null=True)),
                ("completed_size", models.BigIntegerField(default=0)),
                ("found", models.JSONField(default=list)),
            ],
        ),
        migrations.RunPython(install, remove),
    ]
