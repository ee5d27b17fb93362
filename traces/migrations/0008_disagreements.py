"""An index of the few changes whose class disagrees. It holds them alone, so an append costs nothing more."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('traces', '0007_browsing'),
    ]

    operations = [
        migrations.AddIndex(
            model_name='ledgerentry',
            index=models.Index(condition=models.Q(('reason', 'class_disagrees')), fields=['workspace_id', 'kind', 'id'], name='ledger_entry_disagrees'),
        ),
    ]
