"""Index the entries that were recorded before there was a search index.

Batches of their own transactions, so that a million entries need no single one and a stopped migration goes on
where it was. Positions that are indexed are skipped, so running it beside a server does no harm.
"""

from django.db import migrations

from traces.search_index.indexer import index_sealed


def fill(apps, schema_editor):
    checkpoints = apps.get_model("traces", "Checkpoint").objects.using(schema_editor.connection.alias)
    for workspace_id in checkpoints.values_list("workspace_id", flat=True).order_by("workspace_id").distinct():
        index_sealed(workspace_id)


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("traces", "0005_search_index")]
    operations = [migrations.RunPython(fill, migrations.RunPython.noop, elidable=True)]
