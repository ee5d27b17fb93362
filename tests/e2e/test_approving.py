"""A reviewer in a real browser decides what a real agent's call waits for."""

from __future__ import annotations

import threading

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import DESKTOP, PHONE

pytestmark = pytest.mark.e2e

EDIT = {"file_path": "docs/design.md", "old_string": "Cookies hold the session.", "new_string": "Tokens do."}


class Waiting(threading.Thread):
    """The agent's call, held by the gate until somebody decides."""

    def __init__(self, place, tool: str = "Edit", wait_seconds: int = 50, **call) -> None:
        super().__init__(daemon=True)
        self.place, self.tool, self.call = place, tool, (call or EDIT) | {"wait_seconds": wait_seconds}
        self.start()

    def run(self) -> None:
        self.answer = self.place.gate(self.tool, **self.call)

    def result(self, seconds: float = 15):
        self.join(seconds)
        assert not self.is_alive(), "the agent is still waiting"
        return self.answer


def live(page) -> None:
    """Wait until pushes arrive."""
    expect(page.locator("icp-live")).to_contain_text("Live")


def test_a_request_arrives_without_reload_and_approving_lets_the_call_run(place, sign_in):
    place.agent_at_work()
    page = sign_in()
    live(page)
    page.evaluate("window.notReloaded = true")
    waiting = Waiting(place)
    card = page.locator("#column-queue").get_by_text("docs/design.md")
    card.wait_for()
    card.click()
    expect(page.locator("#card")).to_contain_text("Cookies hold the session.")
    expect(page.locator("#card")).to_contain_text("Tokens do.")
    page.get_by_role("button", name="Approve once").click()
    answer = waiting.result()
    assert (answer["decision"], answer["override"]["grant"]) == ("allow", "once")
    expect(page.locator("#card")).to_contain_text("Approved")
    assert page.errors == []


def test_the_queue_counts_in_the_tab_title(place, sign_in):
    place.agent_at_work()
    page = sign_in()
    live(page)
    place.gate("Edit", **EDIT)
    expect(page).to_have_title("(1) Approvals")


def test_rejecting_tells_the_agent_why(place, sign_in):
    place.agent_at_work()
    page = sign_in()
    waiting = Waiting(place)
    page.locator("#column-queue").get_by_text("docs/design.md").click()
    page.locator("#card").wait_for()
    page.get_by_role("button", name="Reject with a reason").click()
    page.locator("#reject textarea").fill("Leave the design alone.")
    page.locator("#reject").get_by_role("button", name="Reject").click()
    answer = waiting.result()
    assert answer["decision"] == "deny"
    assert "Leave the design alone." in answer["error"]


@pytest.mark.parametrize(
    ("viewport", "scheme"), [(DESKTOP, "light"), (PHONE, "dark")], ids=["desktop", "phone"]
)
def test_a_rejection_kept_as_a_lesson_leads_to_it(place, sign_in, viewport, scheme):
    place.agent_at_work()
    files = " ".join(f"docs/part-{number}/chapter.md" for number in range(6))
    approval = place.gate("Bash", command=f"rm {files}")["approval"]["id"]
    page = sign_in(viewport=viewport, color_scheme=scheme)
    page.goto(place.address(f"approvals/{approval}/"))
    page.get_by_role("button", name="Reject with a reason").click()
    page.locator("#reject textarea").fill("The chapters are written by hand.")
    page.get_by_label("Make this a lesson").check()
    page.locator("#reject").get_by_role("button", name="Reject").click()
    page.get_by_role("link", name="Saved as a lesson").click()
    page.wait_for_url("**/lessons/**#lesson-*")
    lesson = page.locator(".lesson:target")
    expect(lesson).to_contain_text("The chapters are written by hand.")
    expect(lesson.get_by_text("docs/part-5/chapter.md")).to_be_hidden()
    lesson.get_by_text("and 3 more files").click()
    expect(lesson.get_by_text("docs/part-5/chapter.md")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    assert page.errors == []


def test_an_approval_that_times_out_is_shown_as_timed_out(place, sign_in):
    place.api("admin", "PATCH", "policy", {"approval_timeout_minutes": 1})
    place.agent_at_work()
    approval = place.gate("Edit", **EDIT)["approval"]["id"]
    page = sign_in()
    page.goto(place.address(f"approvals/{approval}/"))
    live(page)
    place.server.manage(
        "shell", "-v0", "-c",
        "from sessions.models import Approval; from django.utils import timezone;"
        f"Approval.objects.filter(public_id='{approval}').update(expires_at=timezone.now())",
    )  # fmt: skip
    expect(page.locator("#card")).to_contain_text("Timed out, nobody decided")
    assert place.api("reviewer", "GET", f"approvals/{approval}")[1]["status"] == "EXPIRED"


def test_of_two_reviewers_the_first_wins_and_the_other_is_told(place, sign_in):
    place.agent_at_work()
    waiting = Waiting(place)
    rex, uma = sign_in("rex"), sign_in("uma")
    for page in (rex, uma):
        page.locator("#column-queue").get_by_text("docs/design.md").click()
        page.locator("#card").wait_for()
    uma.evaluate("document.querySelector('icp-live').remove()")  # she does not hear of it in time
    rex.get_by_role("button", name="Approve once").click()
    assert waiting.result()["decision"] == "allow"
    uma.get_by_role("button", name="Approve once").click()
    expect(uma.locator("#card")).to_contain_text("Rex was first")


def test_a_card_and_the_queue_show_who_else_is_reviewing_until_they_leave(place, sign_in):
    place.agent_at_work()
    place.gate("Edit", **EDIT)
    place.gate("Write", file_path="docs/other.md", content="x")
    rex, uma = sign_in("rex"), sign_in("uma")
    for page in (rex, uma):
        live(page)
    rex.locator("#column-queue").get_by_text("docs/design.md").click()
    rex.locator("#card").wait_for()
    row = uma.locator(".queue-card", has_text="design.md")
    expect(row).to_contain_text("Rex is reviewing")
    row.get_by_role("link").click()
    expect(uma.locator("#card")).to_contain_text("Rex is reviewing")
    expect(rex.locator("#card")).to_contain_text("Uma is reviewing")
    expect(rex.locator("#card")).not_to_contain_text("Rex is reviewing")
    uma.mouse.move(900, 20)  # the queue waits while it is under the pointer
    place.gate("Write", file_path="docs/third.md", content="x")  # the queue is fetched anew
    expect(uma.locator("#column-queue")).to_contain_text("third.md")
    expect(uma.locator(".queue-card", has_text="design.md")).to_contain_text("Rex is reviewing")
    rex.locator("#column-queue").get_by_text("docs/other.md").click()
    expect(uma.locator(".queue-card", has_text="other.md")).to_contain_text("Rex is reviewing")
    expect(uma.locator("#card")).not_to_contain_text("is reviewing")
    rex.context.close()
    expect(uma.locator("#column-queue")).not_to_contain_text("Rex is reviewing")
    assert uma.errors == []


def test_an_open_card_shows_that_another_reviewer_has_decided(place, sign_in):
    place.agent_at_work()
    waiting = Waiting(place)
    rex, uma = sign_in("rex"), sign_in("uma")
    for page in (rex, uma):
        live(page)
        page.locator("#column-queue").get_by_text("docs/design.md").click()
        page.locator("#card").wait_for()
    rex.get_by_role("button", name="Approve once").click()
    waiting.result()
    expect(uma.locator("#card")).to_contain_text("Approved once by Rex")


def test_an_approval_outlives_a_restart_of_the_server(place, sign_in):
    place.agent_at_work()
    approval = place.gate("Edit", **EDIT)["approval"]["id"]
    page = sign_in()
    page.goto(place.address(f"approvals/{approval}/"))
    live(page)
    place.server.kill()
    expect(page.locator("icp-live")).not_to_contain_text("Live", timeout=10_000)
    place.server.start()
    expect(page.locator("icp-live")).to_contain_text("Live", timeout=20_000)
    page.get_by_role("button", name="Approve once").click()
    expect(page.locator("#card")).to_contain_text("Approved")
    assert place.gate("Edit", **EDIT)["decision"] == "allow"


def test_what_happened_while_away_is_caught_up(place, sign_in):
    place.agent_at_work()
    page = sign_in()
    live(page)
    place.server.kill()
    place.server.start()
    place.gate("Edit", **EDIT)
    expect(page.locator("#column-queue").get_by_text("docs/design.md")).to_be_visible(timeout=20_000)


def test_a_shell_command_shows_its_targets_and_what_is_not_known(place, sign_in):
    place.agent_at_work()
    place.gate("Bash", command="echo done > docs/log.txt && python3 scripts/build.py")
    page = sign_in()
    page.locator("#column-queue").get_by_text("echo done").click()
    expect(page.locator("#card")).to_contain_text("docs/log.txt")
    expect(page.locator("#card")).to_contain_text("python3 scripts/build.py")


def test_without_script_a_reviewer_can_still_decide(place, browser):
    place.agent_at_work()
    approval = place.gate("Edit", **EDIT)["approval"]["id"]
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(place.address(f"approvals/{approval}/"))
    page.get_by_label("User name").fill(place.person("rex", "reviewer"))
    page.get_by_label("Password").fill("correct horse battery staple")
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("button", name="Approve once").click()
    assert place.gate("Edit", **EDIT)["decision"] == "allow"
    context.close()


def test_keys_move_and_decide_but_never_while_typing(place, sign_in):
    place.agent_at_work()
    place.gate("Edit", **EDIT)
    page = sign_in()
    page.locator("#column-queue").get_by_text("docs/design.md").click()
    note = page.locator("#decide textarea, #decide input[name=comment]").first
    note.fill("")
    note.press("a")
    assert place.api("reviewer", "GET", "approvals?status=PENDING")[1]["results"]
    note.evaluate("element => element.blur()")
    page.wait_for_timeout(500)
    page.keyboard.press("a")
    expect(page.locator("#card")).to_contain_text("Approved")


def test_a_strangers_page_receives_no_pushes(place, sign_in, server):
    page = sign_in()
    answer = page.evaluate(
        """async (url) => await new Promise(done => {
            const socket = new WebSocket(url);
            socket.onopen = () => done('open'); socket.onerror = () => done('refused');
        })""",
        f"ws://127.0.0.1:{server.port}/ws/workspaces/not-mine/",
    )
    assert answer == "refused"
