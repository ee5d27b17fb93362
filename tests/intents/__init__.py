"""Tests of intents, laid out like the code.

Modules without a test file of their own are covered by these:

- `store`, `statuses`: test_registry.py; `selectors`: api/test_intents.py, pages/test_views.py
- `known_files`: pages/test_views.py and tests/sessions/approvals/card/test_offers.py
- `proposals`: tests/sessions/mcp/test_tools.py
- `rules.policy`: api/test_policy.py; `rules.intentignore`: api/test_intents.py
- `rules.recommendations`: tests/controlplane/shared/test_starters.py
- `rules.replay`: tests/sessions/explain/test_replay_api.py
- `file_format.cross_checks`, `field_rules`, `intent_parser`: test_registry_parser.py and test_real_files.py there
- `file_format.yaml_json`: file_format/test_yaml_writer.py (round trips)
- `registry_file.three_way_merge`: registry_file/test_two_way_sync.py
- `registry_file.local_file_sync`: management/test_commands.py
- `prompts.context_xml`, `recent_history`: prompts/test_context.py
- `pages.forms`, `intent_list`, `intent_detail`, `scope_preview`: pages/test_views.py
- `lessons.lesson_list`: lessons/test_pages.py; `api.sync`: registry_file/test_two_way_sync.py
"""
