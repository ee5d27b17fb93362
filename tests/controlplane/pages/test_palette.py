"""The palette finds whatever has a name, and nothing of another workspace."""

from __future__ import annotations

import pytest

from tests import builders

pytestmark = pytest.mark.django_db


@pytest.fixture
def filled(acme, at_work, ada, rex):
    at_work.gate("Edit", file_path="docs/design.md", old_string="a", new_string="b")
    at_work.post("sessions/s-1/traces", {"path": "src/auth/login.ts", "content": "x"})
    return acme


def find(person, text, slug="acme"):
    groups = builders.signed_in(person).get(f"/w/{slug}/go/", {"q": text}).context["groups"]
    return {str(group.title): [str(hit.title) for hit in group.hits] for group in groups}


def test_each_kind_is_found_by_its_name(filled, ada, reviewer):
    approval = reviewer.get("approvals").json()["results"][0]["id"]
    assert find(ada, "int-001")["Intents"] == ["INT-001 Work of INT-001"]
    assert find(ada, "s-1")["Sessions"] == ["s-1"]
    assert find(ada, "claude")["Sessions"] == ["s-1"]
    assert (
        find(ada, "design.md")["Approvals"]
        == find(ada, approval[:12])["Approvals"]
        == ["Edit docs/design.md"]
    )
    assert find(ada, "rex")["People"] == ["Rex"]
    assert find(ada, "members")["Pages and actions"] == ["Members and roles"]
    assert find(ada, "stop every")["Pages and actions"] == ["Emergency stop: stop every agent, or one"]


def test_files_are_found_by_any_part_of_their_path(filled, ada):
    from traces.counts.counters import count_sealed  # noqa: PLC0415
    from traces.ledger.sealing import seal_all  # noqa: PLC0415

    seal_all()
    count_sealed(filled.pk)
    assert find(ada, "login auth")["Files"] == ["src/auth/login.ts"]


def test_a_short_text_finds_pages_alone_and_a_wild_one_nothing(filled, ada):
    assert set(find(ada, "")) == set(find(ada, "o")) == {"Pages and actions"}
    assert find(ada, "%%__ \0'\"") == {}
    assert builders.signed_in(ada).get("/w/acme/go/?q=zzz&fragment=hits").content.decode().count("<html") == 0


def test_what_only_admins_may_do_is_offered_to_them_alone(filled, ada, rex):
    assert "New intent" in find(ada, "new intent")["Pages and actions"]
    assert find(rex, "new intent") == {}


def test_nothing_of_another_workspace_is_found(filled, max_):
    for text in ("int-001", "s-1", "design", "rex"):
        assert find(max_, text, "elsewhere") == {}
    assert builders.signed_in(max_).get("/w/acme/go/?q=rex").status_code == 404
