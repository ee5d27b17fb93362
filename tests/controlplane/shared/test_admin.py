"""Django's admin shows what the product records, and changes none of it."""

from __future__ import annotations

import pytest
from django.contrib import admin

from controlplane.models import Token
from controlplane.shared.admin import ReadOnlyAdmin
from intents.models import Intent, IntentRevision, RegistryDocument
from sessions.models import AgentSession, Approval, ApprovalGrant
from traces.models import Checkpoint, LedgerEntry

MODELS = (
    Token, Intent, IntentRevision, RegistryDocument, AgentSession, Approval, ApprovalGrant, Checkpoint, LedgerEntry,
)  # fmt: skip


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_an_operator_reads_the_rows_and_finds_no_way_to_change_them(admin_client, model):
    page = admin.site.get_model_admin(model)
    assert isinstance(page, ReadOnlyAdmin)
    address = f"/admin/{model._meta.app_label}/{model._meta.model_name}/"
    assert admin_client.get(address).status_code == 200
    assert admin_client.get(f"{address}add/").status_code == 403
