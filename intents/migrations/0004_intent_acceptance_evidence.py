import intents.json_field
from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [
        ('intents', '0003_workspace_rules'),
    ]

    operations = [
        migrations.AddField(
            model_name='intent',
            name='acceptance_evidence',
            field=intents.json_field.JsonTextField(default=list, help_text='What proves each criterion: claims of agents, and who confirmed them.'),
        ),
    ]
