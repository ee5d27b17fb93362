"""Reconciliations are a kind of their own, with a longer word than the column held.

SQLite makes the table anew, without its triggers, and stumbles over the triggers of other tables that
name it: they are taken off before and put back after, in the same transaction.
"""

from importlib import import_module

import django.db.models.deletion
from django.db import migrations, models


insert_only = import_module("traces.migrations.0002_insert_only")


class Migration(migrations.Migration):

    dependencies = [
        ('traces', '0002_insert_only'),
    ]

    operations = [
        migrations.RunPython(insert_only.remove, insert_only.install),
        migrations.CreateModel(
            name='ReconciledSubject',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('workspace_id', models.BigIntegerField()),
                ('subject', models.CharField(choices=[('session', 'Session'), ('intent', 'Intent')], max_length=10)),
                ('subject_id', models.CharField(max_length=200)),
            ],
        ),
        migrations.RemoveConstraint(
            model_name='ledgerentry',
            name='ledger_entry_kind_is_known',
        ),
        migrations.AlterField(
            model_name='ledgerentry',
            name='kind',
            field=models.CharField(choices=[('decision', 'Decision'), ('approval', 'Approval'), ('trace', 'Trace'), ('session', 'Session'), ('intent', 'Intent'), ('policy', 'Policy'), ('lesson', 'Lesson'), ('redaction', 'Redaction'), ('import', 'Import'), ('reconciliation', 'Reconciliation')], max_length=20),
        ),
        migrations.AddConstraint(
            model_name='ledgerentry',
            constraint=models.CheckConstraint(condition=models.Q(('kind__in', ['decision', 'approval', 'trace', 'session', 'intent', 'policy', 'lesson', 'redaction', 'import', 'reconciliation'])), name='ledger_entry_kind_is_known'),
        ),
        migrations.AddField(
            model_name='reconciledsubject',
            name='entry',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='reconciled', to='traces.ledgerentry'),
        ),
        migrations.AddIndex(
            model_name='reconciledsubject',
            index=models.Index(fields=['workspace_id', 'subject', 'subject_id', '-id'], name='reconciled_newest'),
        ),
        migrations.RunPython(insert_only.install, insert_only.remove),
    ]
