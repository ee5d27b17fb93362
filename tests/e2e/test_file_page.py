"""The page of a file whose workspace is a git repository: its lines arrive by themselves, or without scripts by a link."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import PHONE, Place
from tests.traces.ranges.repositories import Repo

pytestmark = pytest.mark.e2e
PATH = "src/auth/login.py"


def later(hours):
    return (datetime.now(UTC) + timedelta(hours=hours)).strftime("%Y-%m-%dT%H:%M:%SZ")


@pytest.fixture
def repo(tmp_path):
    repo = Repo(tmp_path / "repo")
    repo.commit(PATH, "by_hand()\n", at=later(-10))
    return repo


@pytest.fixture
def place(server, repo, request):
    """A workspace that is this repository."""
    slug = request.node.name.replace("_", "-")[-45:].strip("-")
    return Place(server, slug, "--local-root", str(repo.folder))


def at_work(place, repo):
    """The agent writes three lines; then a formatter, a person and a rename."""
    place.agent_at_work()
    text = "by_hand()\nlogin(user,password)\ncheck(user)\nremember(user)\n"
    place.api("agent", "POST", "sessions/s-1/traces", {"path": PATH, "content": text})
    repo.commit(PATH, text, at=later(1))
    tidied = text.replace("login(user,password)", "login(\n    user,\n    password,\n)")
    repo.commit(PATH, tidied, at=later(2))
    repo.commit(PATH, f"# mine\n{tidied}".replace("check(user)", "verify(user)"), at=later(3))
    repo.git("mv", PATH, "src/auth/sign_in.py")
    repo.commit(at=later(4))


def test_lines_arrive_and_names_lead_to_each_other(place, repo, sign_in):
    at_work(place, repo)
    page = sign_in("ivy", "auditor")
    page.goto(place.address(f"traces/map/file/{PATH}"))
    expect(page.locator("#lines-now")).to_contain_text("Renamed to src/auth/sign_in.py")
    page.locator("#lines-now").get_by_role("link", name="src/auth/sign_in.py").click()
    lines = page.locator("#lines-now tbody tr")
    expect(lines.filter(has_text="reformatted since")).to_contain_text("INT-001")
    expect(lines.filter(has_text="moved since")).to_contain_text("INT-001")
    expect(lines.filter(has_text="not recorded")).not_to_have_count(0)
    page.locator("#lines-now").get_by_role("link", name=PATH).click()
    expect(page.get_by_role("heading", name="Changes")).to_be_visible()
    expect(page.locator("table").last.locator("tbody tr")).to_have_count(1)
    assert page.errors == []


def test_on_a_phone_nothing_is_wider_than_the_page(place, repo, sign_in):
    at_work(place, repo)
    page = sign_in("ivy", "auditor", viewport=PHONE, color_scheme="dark")
    page.goto(place.address("traces/map/file/src/auth/sign_in.py"))
    expect(page.locator("#lines-now")).to_contain_text("reformatted since")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.errors == []


def test_without_scripts_a_link_has_the_same(place, repo, sign_in, browser):
    at_work(place, repo)
    page = sign_in("ivy", "auditor")
    state = page.context.storage_state()
    context = browser.new_context(java_script_enabled=False, storage_state=state)
    plain = context.new_page()
    plain.goto(place.address("traces/map/file/src/auth/sign_in.py"))
    plain.get_by_role("link", name="Show the page with history").click()
    expect(plain.locator("#lines-now")).to_contain_text("reformatted since")
    context.close()
