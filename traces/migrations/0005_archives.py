"""Archives, and the one more reason for which a body may be deleted: an archive covers its place in the tree.

Entries of kinds that the workspace goes on asking for keep their bodies whatever is archived.
"""

from importlib import import_module

from django.db import migrations, models

before = import_module("traces.migrations.0002_insert_only")

ARCHIVES = "traces_ledgerarchive"
NAMED_BY_ARCHIVE = """EXISTS (
    SELECT 1 FROM traces_ledgerleaf leaf
    JOIN traces_ledgerentry archived ON archived.id = leaf.entry_id
    JOIN traces_ledgerarchive archive ON archive.workspace_id = leaf.workspace_id
      AND archive.first_seq <= leaf.seq AND leaf.seq < archive.end_seq
    WHERE leaf.entry_id = OLD.entry_id
      AND archived.kind IN ('decision', 'approval', 'trace', 'session', 'import')
)"""


def body_guard(allowed):
    """PostgreSQL's guard over bodies, which lets a DELETE pass where `allowed` holds."""
    return f"""
CREATE OR REPLACE FUNCTION ledger_refuse_unless_redacted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' AND ({allowed}) THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION 'the ledger is insert-only: % on % refused', TG_OP, TG_TABLE_NAME
        USING ERRCODE = 'integrity_constraint_violation';
END $$;
"""


def sqlite_body_guard(allowed):
    return (
        f"CREATE TRIGGER {before.BODIES}_delete BEFORE DELETE ON {before.BODIES} WHEN NOT ({allowed}) "
        "BEGIN SELECT RAISE(ABORT, 'the ledger is insert-only'); END"
    )


def guard_bodies(schema_editor, allowed):
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(body_guard(allowed), params=None)
        return
    schema_editor.execute(f"DROP TRIGGER {before.BODIES}_delete", params=None)
    schema_editor.execute(sqlite_body_guard(allowed), params=None)


def install(apps, schema_editor):
    guard_bodies(schema_editor, f"{before.NAMED_BY_REDACTION} OR {NAMED_BY_ARCHIVE}")
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(before.postgresql_triggers(ARCHIVES), params=None)
    else:
        for statement in before.sqlite_triggers(ARCHIVES):
            schema_editor.execute(statement, params=None)


def remove(apps, schema_editor):
    postgresql = schema_editor.connection.vendor == "postgresql"
    for suffix in ("rows", "all") if postgresql else ("update", "delete"):
        where = f" ON {ARCHIVES}" if postgresql else ""
        schema_editor.execute(f"DROP TRIGGER {ARCHIVES}_{suffix}{where}", params=None)
    guard_bodies(schema_editor, before.NAMED_BY_REDACTION)



class Migration(migrations.Migration):

    dependencies = [
        ('traces', '0004_outlets'),
    ]

    operations = [
        migrations.CreateModel(
            name='LedgerArchive',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('workspace_id', models.BigIntegerField()),
                ('first_seq', models.BigIntegerField()),
                ('end_seq', models.BigIntegerField()),
                ('name', models.CharField(max_length=200)),
                ('size_bytes', models.BigIntegerField()),
                ('digest', models.BinaryField()),
                ('note', models.TextField()),
                ('created_at', models.DateTimeField()),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('workspace_id', 'digest'), name='ledger_archive_once')],
            },
        ),
        migrations.RunPython(install, remove),
    ]
