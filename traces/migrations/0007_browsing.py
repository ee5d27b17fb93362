"""Indexes and kept numbers for browsing a large ledger.

The numbers need no filling: the server's loop counts every leaf that is not counted yet.
"""

from django.db import migrations, models


def fill_lead_folders(apps, _schema_editor):
    """The top folder of each entry's first file, as `traces.counts.counters.top_folder` names it."""
    files = apps.get_model("traces", "TraceFile").objects
    batch, entry_id = [], None
    for row in files.order_by("entry_id", "id").only("entry_id", "path").iterator(chunk_size=1000):
        if row.entry_id != entry_id:
            entry_id = row.entry_id
            row.lead_folder = "/".join(row.path.split("/")[:-1][:2])[:200] or "./"
            batch.append(row)
        if len(batch) == 500:
            files.bulk_update(batch, ["lead_folder"])
            batch = []
    files.bulk_update(batch, ["lead_folder"])


class Migration(migrations.Migration):

    dependencies = [
        ('traces', '0006_anchors'),
    ]

    operations = [
        migrations.CreateModel(
            name='Counted',
            fields=[
                ('workspace_id', models.BigIntegerField(primary_key=True, serialize=False)),
                ('leaves', models.BigIntegerField(default=0)),
            ],
        ),
        migrations.CreateModel(
            name='EntryCount',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('workspace_id', models.BigIntegerField()),
                ('span', models.PositiveIntegerField()),
                ('bucket', models.BigIntegerField()),
                ('digest', models.BinaryField()),
                ('kind', models.CharField(max_length=20)),
                ('outcome', models.CharField(max_length=40)),
                ('agent', models.CharField(max_length=100)),
                ('intent_id', models.CharField(max_length=200)),
                ('tool', models.CharField(max_length=200)),
                ('reason', models.CharField(max_length=200)),
                ('folder', models.CharField(max_length=200)),
                ('entries', models.BigIntegerField()),
            ],
        ),
        migrations.CreateModel(
            name='FileCount',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('workspace_id', models.BigIntegerField()),
                ('path_hash', models.BinaryField()),
                ('path', models.CharField(max_length=1000)),
                ('intent_id', models.CharField(max_length=200)),
                ('entries', models.BigIntegerField()),
                ('evolved', models.BigIntegerField()),
                ('last_changed', models.BigIntegerField()),
            ],
        ),
        migrations.RemoveIndex(
            model_name='ledgerentry',
            name='ledger_entry_session',
        ),
        migrations.RemoveIndex(
            model_name='ledgerentry',
            name='ledger_entry_intent',
        ),
        migrations.AddField(
            model_name='tracefile',
            name='lead_folder',
            field=models.CharField(default='', max_length=200),
        ),
        migrations.AddIndex(
            model_name='ledgerentry',
            index=models.Index(fields=['workspace_id', 'session_id', 'id'], name='ledger_entry_session'),
        ),
        migrations.AddIndex(
            model_name='ledgerentry',
            index=models.Index(fields=['workspace_id', 'intent_id', 'id'], name='ledger_entry_intent'),
        ),
        migrations.AddIndex(
            model_name='ledgerentry',
            index=models.Index(fields=['workspace_id', 'agent', 'id'], name='ledger_entry_agent'),
        ),
        migrations.AddIndex(
            model_name='ledgerentry',
            index=models.Index(fields=['workspace_id', 'outcome', 'id'], name='ledger_entry_outcome'),
        ),
        migrations.AddIndex(
            model_name='ledgerentry',
            index=models.Index(fields=['workspace_id', 'id'], name='ledger_entry_newest'),
        ),
        migrations.AddIndex(
            model_name='ledgerentry',
            index=models.Index(fields=['workspace_id', 'received_at'], name='ledger_entry_received'),
        ),
        migrations.AddIndex(
            model_name='tracefile',
            index=models.Index(fields=['workspace_id', 'lead_folder', 'entry'], name='trace_file_folder'),
        ),
        migrations.AddConstraint(
            model_name='entrycount',
            constraint=models.UniqueConstraint(fields=('workspace_id', 'span', 'bucket', 'digest'), name='entry_count_once'),
        ),
        migrations.AddConstraint(
            model_name='filecount',
            constraint=models.UniqueConstraint(fields=('workspace_id', 'path_hash', 'intent_id'), name='file_count_once'),
        ),
        migrations.RunPython(fill_lead_folders, migrations.RunPython.noop),
    ]
