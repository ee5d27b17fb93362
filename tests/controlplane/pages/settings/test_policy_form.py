"""The policy page: one form field per key, judged by the policy's own rules."""

from __future__ import annotations

import pytest

from controlplane.models import Workspace
from controlplane.pages.settings.policy_fields import ChoiceField
from controlplane.pages.settings.policy_form import PolicyForm
from controlplane.policy.model import Policy
from controlplane.policy.rules.policy_document import APPROVABLE_TYPES, find_problems, to_document
from tests.builders import intent, signed_in
from tests.controlplane.pages.settings.settings_forms import newest, settings_of, version_on


def policy_post(client, workspace, **changes):
    """The whole form as a browser sends it, with some fields changed."""
    address = settings_of(workspace)
    document = to_document(Policy()) | changes
    posted = {"version": version_on(client, address)}
    for field in PolicyForm(document=document):
        if field.widget_type == "checkbox":
            posted |= {field.name: "true"} if field.value() else {}
        else:
            posted[field.name] = field.value()
    return client.post(address, posted)


class TestPolicy:
    def test_the_form_names_every_key_and_every_approvable_type(self):
        fields = PolicyForm.base_fields
        assert set(fields) == set(to_document(Policy()))
        assert {value for value, _ in fields["approvable"].choices} == set(APPROVABLE_TYPES)

    def test_every_key_is_in_one_fieldset(self):
        names = [name for _, names in PolicyForm.FIELDSETS for name in names]
        assert sorted(names) == sorted(PolicyForm.base_fields)

    @pytest.mark.parametrize(
        ("key", "value"),
        [
            (key, value)
            for key, field in PolicyForm.base_fields.items()
            if isinstance(field, ChoiceField)
            for value, _ in field.choices
        ],
    )
    def test_every_choice_is_allowed_by_the_rules(self, key, value):
        assert find_problems({key: value}) == ()

    def test_saving_the_form_as_it_is_changes_nothing(self, acme, ada):
        assert policy_post(signed_in(ada), acme).status_code == 302
        acme.refresh_from_db()
        assert (acme.policy, acme.revision) == ({}, 1)

    def test_ada_changes_every_kind_of_field(self, acme, ada):
        changes = {
            "enforcement": "monitor",
            "session_idle_minutes": 5,
            "require_content_hash": True,
            "tool_classes": {"mcp__github__get_*": "SAFE"},
            "safe_commands": ["npm test"],
            "approvable": ["STALE_FILE"],
        }
        assert policy_post(signed_in(ada), acme, **changes).status_code == 302
        acme.refresh_from_db()
        assert acme.policy == changes
        assert acme.revision == 2
        outcome, body = newest(acme)
        assert (outcome, body["after"]) == ("changed", changes)

    def test_a_change_holds_from_the_next_call(self, acme, ada, agent):
        intent(acme)
        agent.select("INT-001")
        assert agent.gate("write_to_file", path="docs/a.md", content="x")["decision"] == "ask"
        policy_post(signed_in(ada), acme, approvable=[])
        assert agent.gate("write_to_file", path="docs/a.md", content="x")["decision"] == "deny"

    def test_nonsense_is_refused_beside_its_field_and_kept_in_the_form(self, acme, ada):
        changes = {"session_idle_minutes": "soon", "tool_classes": {"execute_command": "SAFE"}}
        answer = policy_post(signed_in(ada), acme, **changes)
        assert answer.status_code == 400
        text = answer.content.decode()
        assert "a whole number of minutes" in text
        assert "changes files or runs commands" in text
        assert "execute_command: SAFE" in text
        acme.refresh_from_db()
        assert acme.policy == {}

    def test_somebody_elses_change_is_not_overwritten_unseen(self, acme, ada):
        client = signed_in(ada)
        Workspace.objects.filter(pk=acme.pk).update(policy={"enforcement": "monitor"})
        posted = {"version": "1", "enforcement": "off"}
        assert client.post(settings_of(acme), posted).status_code == 409
        acme.refresh_from_db()
        assert acme.policy == {"enforcement": "monitor"}
