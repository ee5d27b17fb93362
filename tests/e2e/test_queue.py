"""The reviewer's loop: keys, rows that arrive alone, groups with one decision, search."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import DESKTOP, PHONE
from tests.e2e.test_approving import live

pytestmark = pytest.mark.e2e


def waits(place):
    return place.api("reviewer", "GET", "approvals?status=PENDING")[1]["results"]


def write(place, *names):
    for name in names:
        change = {"old_string": "before", "new_string": f"text of {name}"}
        place.gate("Edit", file_path=f"docs/{name}.md", **change)


def test_after_a_decision_j_goes_on_and_never_back_to_a_decided_card(place, sign_in):
    place.agent_at_work()
    write(place, "one", "two", "three")
    page = sign_in()
    live(page)
    page.locator("#column-queue").get_by_text("docs/one.md").click()
    expect(page.locator("#card-title")).to_contain_text("one.md")
    page.wait_for_timeout(500)
    page.keyboard.press("a")
    expect(page.locator("#card")).to_contain_text("Approved")
    expect(page.locator("#next-approval")).to_be_focused()
    page.keyboard.press("j")
    for expected in ("two.md", "three.md", "three.md"):
        expect(page.locator("#card-title")).to_contain_text(expected)
        page.keyboard.press("j")
    page.keyboard.press("k")
    expect(page.locator("#card-title")).to_contain_text("two.md")
    page.keyboard.press("k")
    expect(page.locator("#card-title")).to_contain_text("two.md")
    page.mouse.move(1000, 500)  # what a push changes waits while the pointer is over the queue
    expect(page.locator("#decided")).to_contain_text("one.md")
    assert page.errors == []


def test_a_held_key_is_one_press_and_two_presses_need_a_pause(place, sign_in):
    place.agent_at_work()
    place.gate("Bash", command="rm -rf docs/old")
    page = sign_in()
    page.locator("#column-queue").get_by_text("rm -rf docs/old").click()
    expect(page.get_by_role("button", name="Approve once")).to_be_visible()
    page.keyboard.down("a")
    for _ in range(20):
        page.keyboard.down("a")  # playwright marks these as repeats
    page.keyboard.up("a")
    page.keyboard.press("a")  # sooner than a person presses twice on purpose
    assert len(waits(place)) == 1
    page.wait_for_timeout(600)
    page.keyboard.press("a")
    expect(page.locator("#card")).to_contain_text("Approved")


def test_a_push_brings_one_row_and_fetches_nothing(place, sign_in):
    place.agent_at_work()
    write(place, "one")
    page = sign_in()
    live(page)
    fetched = []
    page.on("request", lambda request: fetched.append(request.url))
    page.evaluate("document.querySelector('#queue .queue-card').marked = true")
    write(place, "two")
    expect(page.locator("#column-queue")).to_contain_text("two.md")
    expect(page.locator("#strip")).to_contain_text("2 pending")
    expect(page.locator("#pending-count")).to_contain_text("2")
    expect(page).to_have_title("(2) Approvals")
    assert page.evaluate("document.querySelector('#queue .queue-card').marked"), (
        "the first row was not drawn anew"
    )
    place.api("reviewer", "POST", f"approvals/{waits(place)[0]['id']}/decide", {"action": "reject"})
    expect(page.locator("#decided")).to_contain_text("two.md")
    expect(page.locator("#rows > [data-group]")).not_to_contain_text("two.md")
    assert fetched == []


def test_opening_a_card_fetches_the_card_alone(place, sign_in):
    place.agent_at_work()
    write(place, *(f"n{number}" for number in range(12)))
    page = sign_in()
    live(page)
    sizes = []
    page.on(
        "response", lambda answer: "/static/" in answer.url or sizes.append((answer.url, len(answer.body())))
    )
    page.locator("#column-queue").get_by_text("docs/n3.md").click()
    expect(page.locator("#card-title")).to_contain_text("n3.md")
    expect(page.locator("#context")).to_contain_text("Session")
    assert page.url.endswith(waits(place)[-4]["id"] + "/")
    assert len(sizes) == 1, sizes
    ((url, size),) = sizes
    assert "fragment=open" in url
    assert size < 20_000
    page.reload()
    expect(page.locator("#card-title")).to_contain_text("n3.md")
    page.go_back()
    expect(page.locator("#card")).to_have_count(0)


@pytest.mark.parametrize(
    ("viewport", "scheme"), [(DESKTOP, "light"), (PHONE, "dark")], ids=["desktop", "phone"]
)
def test_alike_calls_are_one_row_and_one_decision_with_a_result_for_each(place, sign_in, viewport, scheme):
    place.agent_at_work()
    for number in range(6):
        place.gate("Bash", command=f"rm -rf build/{number}", description="Clear old bundles")
    page = sign_in(viewport=viewport, color_scheme=scheme)
    live_state = page.locator("#column-queue .queue-card")
    expect(live_state).to_have_count(1)
    expect(live_state).to_contain_text("6 alike")
    expect(live_state).to_contain_text("rm -rf build/…")
    live_state.locator("a").click()
    expect(page.locator("#card-title")).to_contain_text("6 alike")
    expect(page.locator("#card")).to_contain_text("Clear old bundles")
    page.locator("#card").get_by_label("build/3").uncheck()
    expect(page.get_by_role("button", name="Approve 5 once")).to_be_visible()
    page.get_by_role("button", name="Approve 5 once").click()
    page.wait_for_timeout(500)
    if page.get_by_role("button", name="Press A again").count():
        page.get_by_role("button", name="Press A again").click()
    expect(page.locator("#card")).to_contain_text("Decided 5 of 5.")
    assert [row["input"]["command"] for row in waits(place)] == ["rm -rf build/3"]
    assert (
        place.gate("Bash", command="rm -rf build/5", description="Clear old bundles")["decision"] == "allow"
    )
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    assert page.errors == []


def test_ticked_rows_get_one_answer_but_nothing_irreversible_unseen(place, sign_in):
    place.agent_at_work()
    write(place, "one", "two")
    place.gate("Bash", command="rm -rf docs/old")
    page = sign_in()
    live(page)
    for row in page.locator("#queue .queue-card [name=selected]").all():
        row.check()
    expect(page.locator("#batch")).to_contain_text("3 selected")
    page.locator("#batch").get_by_role("button", name="Approve once").click()
    expect(page.locator("#card")).to_contain_text("Decided 2 of 3.")
    expect(page.locator("#card")).to_contain_text("Open its card before you approve it.")
    assert [row["tool"] for row in waits(place)] == ["Bash"]


def test_the_queue_is_searched_and_the_address_keeps_it(place, sign_in):
    place.agent_at_work()
    write(place, "alpha", "beta")
    page = sign_in()
    page.keyboard.press("/")
    page.keyboard.type("BETA")
    rows = page.locator("#rows > [data-group] .queue-card")
    expect(rows).to_have_count(1)
    expect(rows).to_contain_text("beta.md")
    expect(page.locator("#queue")).to_contain_text("1 of 2 pending")
    page.wait_for_url("**q=BETA**")
    page.reload()
    expect(rows).to_have_count(1)
    write(place, "gamma")
    page.mouse.move(1000, 500)
    expect(page.locator("#queue")).to_contain_text("1 of 3 pending")
    expect(rows).to_have_count(1)
    rows.locator("a").click()
    expect(page.locator("#card-title")).to_contain_text("beta.md")
    assert "q=BETA" in page.url


def test_reading_a_secret_says_so(place, sign_in):
    place.agent_at_work()
    admin = sign_in("ada", "admin")
    admin.goto(place.address("settings/intentignore/"))
    admin.locator("textarea[name=intentignore], textarea").first.fill(".env*\n")
    admin.get_by_role("button", name="Save").first.click()
    admin.wait_for_load_state()
    answer = place.gate("Read", file_path=".env")
    assert answer["decision"] == "ask", answer
    page = sign_in()
    row = page.locator("#queue .queue-card")
    expect(row).to_contain_text(".env")
    expect(row).to_contain_text("Secrets")
    row.locator("a").click()
    expect(page.locator("#card-title")).to_contain_text("Read")
    expect(page.locator("#card")).to_contain_text("It is not read.")
    expect(page.locator("#card")).to_contain_text("of it matches .env")


def test_a_decision_opens_the_next_card_and_can_be_undone_before_the_agent_hears_of_it(place, sign_in):
    place.agent_at_work()
    write(place, "one", "two", "three")
    page = sign_in(undo=True)
    live(page)
    title = page.locator("#card-title")
    page.locator("#column-queue").get_by_text("docs/one.md").click()
    expect(title).to_contain_text("one.md")
    page.keyboard.press("a")
    expect(title).to_contain_text("two.md")
    expect(title).to_be_focused()
    expect(page.locator(".toast")).to_contain_text("Approved in 5 s: Edit docs/one.md")
    assert len(waits(place)) == 3, "nothing is sent yet"
    page.keyboard.press("k")
    expect(title).to_contain_text("two.md"), "no key leads to the decided card"
    page.keyboard.press("z")
    expect(title).to_contain_text("one.md")
    expect(page.locator(".toast")).to_have_count(0)
    page.get_by_role("button", name="Reject", exact=True).click()
    expect(title).to_contain_text("two.md")
    page.mouse.move(1000, 500)
    expect(page.locator("#decided")).to_contain_text("one.md", timeout=10_000)
    assert [
        row["status"] for row in place.api("reviewer", "GET", "approvals?status=REJECTED")[1]["results"]
    ] == ["REJECTED"]
    assert len(waits(place)) == 2
    assert page.errors == []


def test_leaving_the_page_sends_what_waits_and_a_refusal_is_said(place, sign_in):
    place.agent_at_work()
    write(place, "one", "two")
    page = sign_in(undo=True)
    page.locator("#column-queue").get_by_text("docs/one.md").click()
    expect(page.locator("#card-title")).to_contain_text("one.md")
    page.keyboard.press("a")
    expect(page.locator("#card-title")).to_contain_text("two.md")
    page.mouse.move(1000, 500)  # what a push changes waits while the pointer is over the queue
    page.goto(place.address("intents/"))
    page.goto(place.address())
    expect(page.locator("#decided")).to_contain_text("one.md")
    write(place, "three")
    page.locator("#column-queue").get_by_text("docs/two.md").click()
    expect(page.locator("#card-title")).to_contain_text("two.md")
    page.keyboard.press("a")
    (two,) = [row["id"] for row in waits(place) if "two" in str(row["input"])]
    place.api("reviewer", "POST", f"approvals/{two}/decide", {"action": "reject"})
    expect(page.locator(".toast").last).to_contain_text("was first", timeout=10_000)


def test_the_last_card_stays_with_its_receipt(place, sign_in):
    place.agent_at_work()
    write(place, "one")
    page = sign_in(undo=True)
    page.locator("#column-queue").get_by_text("docs/one.md").click()
    page.get_by_role("button", name="Approve once").click()
    expect(page.locator("#card .approve")).to_be_disabled()
    expect(page.locator("#card")).to_contain_text("Approved", timeout=10_000)
