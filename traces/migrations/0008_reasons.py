"""An index for reasons within a kind: a class that disagrees is rare among a million entries.

With one column more than the others it is chosen by SQLite too, which knows no statistics here.
"""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('traces', '0007_browsing'),
    ]

    operations = [
        migrations.AddIndex(
            model_name='ledgerentry',
            index=models.Index(fields=['workspace_id', 'kind', 'reason', 'id'], name='ledger_entry_reason'),
        ),
    ]
