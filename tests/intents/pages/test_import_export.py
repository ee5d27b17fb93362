"""The pages that import and export `active_intents.yaml`."""

from __future__ import annotations

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from intents.models import Intent
from tests import builders
from tests.intents.builders import DATA, file_of, intent

BASE = "/w/acme/intents/"


@pytest.fixture
def page(acme, ada):
    return builders.signed_in(ada)


@pytest.fixture
def auth(acme):
    return builders.intent(acme, status="IN_PROGRESS")


def test_an_import_is_checked_before_it_is_applied(acme, page, auth):
    text = file_of(intent("INT-001"), intent("INT-002")).decode().replace("\n", "\r\n")
    answer = page.post(f"{BASE}import/", {"text": text, "mode": "replace", "step": "check"})
    assert [(step["intent_id"], step["change"]) for step in answer.context["plan"]] == [
        ("INT-002", "added"),
        ("INT-001", "changed"),
    ]
    assert Intent.objects.count() == 1
    answer = page.post(f"{BASE}import/", {"text": text, "mode": "replace", "step": "apply"}, follow=True)
    assert "1 added, 1 changed, 0 removed." in answer.content.decode()
    assert Intent.objects.count() == 2


def test_an_invalid_file_is_reported_with_its_lines(page, acme):
    data = (DATA / "bad_input" / "y01-tab.yaml").read_bytes()
    for step in ("check", "apply"):
        answer = page.post(f"{BASE}import/", {"file": SimpleUploadedFile("a.yaml", data), "step": step})
        assert "YAML_PARSE_ERROR" in answer.content.decode()
        assert answer.context["report"].errors[0].line == 3
        assert answer.context["plan"] is None
    assert not Intent.objects.exists()


def test_a_real_file_needs_the_lenient_option(page, acme):
    data = (DATA / "real_orchestration" / "13" / "active_intents.yaml").read_text()
    assert not page.post(f"{BASE}import/", {"text": data, "step": "check"}).context["report"].valid
    assert (
        page.post(f"{BASE}import/", {"text": data, "step": "check", "lenient": "true"})
        .context["report"]
        .valid
    )


def test_an_export_is_the_file(page, auth):
    answer = page.get(f"{BASE}export/")
    assert answer.headers["Content-Disposition"] == 'attachment; filename="active_intents.yaml"'
    assert b'id: "INT-001"' in answer.content
