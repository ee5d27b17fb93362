"""A reviewer decides in a real browser, file by file, what of a contained run lands."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import DESKTOP, PHONE
from tests.sessions.runs.builders import CONTAINMENT, binary, created, deleted, modified

pytestmark = pytest.mark.e2e
SIZES = pytest.mark.parametrize(
    ("viewport", "scheme"), [(DESKTOP, "light"), (PHONE, "dark")], ids=["desktop", "phone"]
)
TOO_WIDE = "document.documentElement.scrollWidth > document.documentElement.clientWidth"


def run(place, *files) -> tuple[str, str]:
    """Let a contained run report its files; the ids of run and approval."""
    place.agent_at_work()
    call = {"session_id": "s-1", "tool": "Bash", "input": {"command": "npm test"}, "containment": CONTAINMENT}
    run_id = place.api("agent", "POST", "gate", call)[1]["containment"]["run_id"]
    report = {"exit_code": 0, "duration_ms": 4200, "files": list(files)}
    answer = place.api("agent", "POST", f"runs/{run_id}/effects", report)[1]
    return run_id, answer["approval"]["id"]


@SIZES
def test_the_ticked_files_land_and_the_others_are_thrown_away(place, sign_in, viewport, scheme):
    files = (modified("docs/rounding.md", "Half up.\n", "Half even.\n"), created("package-lock.json", "{}\n"))
    run_id, approval = run(place, created("src/auth/a.ts"), *files)
    page = sign_in(viewport=viewport, color_scheme=scheme)
    page.goto(place.address(f"approvals/{approval}/"))
    card, approve = page.locator("#card"), page.locator("button.approve")
    for words in ("Land 2 files from", "Half even.", "Contained by", "Lock file"):
        expect(card).to_contain_text(words)
    assert not page.evaluate(TOO_WIDE)
    boxes = page.locator(".held input")
    boxes.nth(1).uncheck()
    boxes.nth(0).uncheck()
    expect(approve).to_be_disabled()
    boxes.nth(0).check()
    approve.click()
    expect(card).to_contain_text("Approved once by you")
    landed = place.api("agent", "POST", f"runs/{run_id}/land", {})[1]
    assert (landed["land"], landed["discard"]) == (["docs/rounding.md"], ["package-lock.json"])
    expect(page.locator("#receipt")).to_contain_text("Landed")
    page.reload()
    expect(page.locator(".held", has_text="rounding.md")).to_contain_text("Landed")
    expect(page.locator(".held", has_text="package-lock.json")).to_contain_text("Thrown away")
    assert page.errors == []


def test_keys_tick_files_and_approve(place, sign_in):
    run_id, approval = run(place, created("docs/a.md"), created("docs/b.md"))
    page = sign_in()
    page.goto(place.address(f"approvals/{approval}/"))
    page.locator(".held input").nth(1).focus()
    page.keyboard.press("x")
    expect(page.locator(".held input").nth(1)).not_to_be_checked()
    page.keyboard.press("a")
    expect(page.locator("#card")).to_contain_text("Approved once by you")
    assert place.api("agent", "POST", f"runs/{run_id}/land", {})[1]["land"] == ["docs/a.md"]


def test_what_cannot_be_seen_or_undone_takes_a_second_key(place, sign_in):
    _, approval = run(place, binary("docs/logo.png"), deleted("docs/old.md"))
    page = sign_in()
    page.goto(place.address(f"approvals/{approval}/"))
    page.keyboard.press("a")
    expect(page.locator("button.approve")).to_contain_text("Press A again")
    page.get_by_role("button", name="Approve none").click()
    expect(page.locator("#card")).to_contain_text("Rejected by you")
