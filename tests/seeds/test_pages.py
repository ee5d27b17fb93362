"""What people see of the agents' work, and how it reaches them (document 5's web view)."""

from __future__ import annotations

import pytest
from websockets.exceptions import WebSocketException

from tests.seeds.people import Person, wait_for


@pytest.mark.systems(27, 36)
def test_seed5_view_1__a_person_decides_on_the_page_and_the_agents_call_runs(shop):
    coder = shop.agent("gemini-cli")
    assert not coder.write("src/auth/a.ts").ran
    approval = shop.pending()[0]["id"]
    rex = Person(shop, "reviewer")
    assert "src/auth/a.ts" in rex.read("approvals/")
    card = f"approvals/{approval}/"
    assert rex.post(card, f"{card}decide/", action="approve", grant="once")[0] == 200
    assert coder.write("src/auth/a.ts").ran
    assert rex.name in rex.read(card)


@pytest.mark.systems(37)
def test_seed5_view_2__what_agents_do_is_pushed_to_open_pages(shop):
    coder, ivy = shop.agent("claude-code"), Person(shop, "auditor")
    with ivy.listen() as pushes:
        wait_for(pushes, "hello")
        coder.take()
        wait_for(pushes, "session.changed")
        coder.write("docs/design.md")
        made = wait_for(pushes, "decision.made")
        assert isinstance(made["seq"], int)
        wait_for(pushes, "approval.requested")
        shop.decide()
        wait_for(pushes, "approval.decided")
        coder.wrote("src/auth/a.ts")
        wait_for(pushes, "trace.recorded")


@pytest.mark.systems(37)
def test_seed5_view_3__pushes_are_for_members_and_for_pages_of_this_site(shop, running_server):
    ivy, stranger = Person(shop, "auditor"), Person(type(shop)(running_server), "admin")
    stranger.shop = shop
    for person, origin in ((ivy, "https://evil.example"), (stranger, "")):
        with pytest.raises(WebSocketException), person.listen(origin) as pushes:
            wait_for(pushes, "hello")
    with ivy.listen() as pushes:
        wait_for(pushes, "hello")


@pytest.mark.systems(38)
def test_seed5_view_4__a_session_can_be_followed_from_its_first_call(shop):
    coder = shop.agent("codex")
    coder.read("README.md")
    coder.write("src/auth/early.ts")
    coder.take()
    coder.write("src/auth/a.ts")
    coder.wrote("src/auth/a.ts")
    ivy = Person(shop, "auditor")
    assert coder.session in ivy.open("sessions/")[1]
    page = ivy.read(f"sessions/{coder.session}")
    for part in ("README.md", "src/auth/early.ts", "src/auth/a.ts", "INT-001"):
        assert part in page


@pytest.mark.systems(38)
def test_seed5_view_5__the_ledger_is_browsed_by_kind_path_and_outcome(shop, rest):
    rest.take()
    rest.write("src/auth/a.ts")
    rest.wrote("src/auth/a.ts")
    rest.write("docs/refused.md")
    ivy = Person(shop, "auditor")
    page = ivy.open("traces/")[1]
    assert "icp-strip" in page
    assert "Entries over time" in page
    assert "docs/refused.md" not in ivy.read("traces/?kind=trace").split("What happened", 1)[1]
    assert "src/auth/a.ts" in ivy.read("traces/?kind=trace")
    assert "docs/refused.md" in ivy.read("traces/?q=refused.md")
    assert "docs/refused.md" in ivy.read("traces/map/file/docs/refused.md")


@pytest.mark.systems(39)
def test_seed5_view_6__the_map_shows_files_by_intent_and_finds_them(shop):
    coder = shop.agent("claude-code")
    shop.intent("INT-002", owned_scope=["src/billing/**"])
    coder.take()
    coder.wrote("src/auth/login.ts", "export function login(): void {}\n")
    coder.wrote("src/shared/util.ts")
    ivy = Person(shop, "auditor")
    page = ivy.read("traces/map/")
    for part in ("login.ts", "util.ts", "INT-001", "INT-002", "Touched outside scope"):
        assert part in page
    assert "src/auth/login.ts" in ivy.read("traces/map/?q=login")
    file = ivy.read("traces/map/file/src/auth/login.ts")
    assert "INT-001" in file
    assert "login" in file.split("Symbols", 1)[1]


@pytest.mark.systems(35)
def test_seed5_view_7__intents_are_kept_on_pages_by_admins_alone(shop, rest):
    ada, ivy = Person(shop, "admin"), Person(shop, "auditor")
    new = {"id": "INT-002", "name": "Billing", "scope": "src/billing/**", "acceptance_criteria": "It adds up"}
    assert ada.post("intents/new/", "intents/new/", **new)[0] == 200
    assert shop.admin("GET", "intents/INT-002")[1]["owned_scope"] == ["src/billing/**"]
    assert ivy.open("intents/new/")[0] == 403
    assert "Billing" in ivy.read("intents/")
    assert "It adds up" in ivy.read("intents/INT-002/")
    document = ada.open("intents/export/")[1]
    assert "INT-002" in document
    changed = document.replace("Billing", "Invoices")
    checked = ada.post("intents/import/", "intents/import/", text=changed, mode="merge", step="check")
    assert "INT-002" in checked[1]
    assert shop.admin("GET", "intents/INT-002")[1]["name"] == "Billing"
    assert rest.take("INT-002")["success"]


@pytest.mark.systems(35)
def test_seed5_view_8__operators_search_everything_under_admin_and_others_cannot(shop, rest):
    rest.take()
    olga, ada = Person(shop, "admin", "--superuser"), Person(shop, "admin")
    status, page = olga.open("/admin/")
    assert status == 200
    for kind in ("workspace", "intent", "approval", "agentsession", "token"):
        assert kind in page.lower(), kind
    status, page = olga.open("/admin/intents/intent/?q=Sign-in")
    assert (status, "INT-001" in page) == (200, True)
    assert "INT-001" not in ada.open("/admin/intents/intent/")[1]
