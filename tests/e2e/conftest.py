"""A real server, a real Chromium, and the people who sit before it."""

from __future__ import annotations

import json
import os
import urllib.request
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from tests.live import LiveServer

CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip
PASSWORD = "correct horse battery staple"
DESKTOP, PHONE = {"width": 1440, "height": 1000}, {"width": 390, "height": 844}


@pytest.fixture(scope="session")
def server(tmp_path_factory) -> Iterator[LiveServer]:
    live = LiveServer(tmp_path_factory.mktemp("live"))
    live.start()
    yield live
    live.close()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield started
        started.close()


class Place:
    """A workspace of its own for one test, with its tokens, an agent at work, and people."""

    def __init__(self, server: LiveServer, slug: str, *options: str) -> None:
        self.server, self.slug = server, slug
        self.tokens = server.workspace(slug, *options)
        self.people: set[str] = set()

    def person(self, name: str, role: str) -> str:
        username = f"{name}-{self.slug}"
        if username not in self.people:
            self.server.manage_with_input(
                f"{PASSWORD}\n", "add_member", self.slug, username, role, "--name", name.title()
            )
            self.people.add(username)
        return username

    def agent_at_work(self, session: str = "s-1") -> None:
        self.server.select(self.tokens["agent"], session)

    def gate(self, tool: str, session: str = "s-1", **call):
        return self.server.gate(self.tokens["agent"], session, tool, **call)[1]

    def hook(self, event: str, session: str = "s-1", **payload):
        """What Claude Code sends to its hook of an event; the answer's headers."""
        body = {"session_id": session, "cwd": "/workspace", "hook_event_name": event, **payload}
        request = urllib.request.Request(
            f"{self.server.url}/hooks/claude-code/{event}", json.dumps(body).encode(), method="POST"
        )
        request.add_header("Authorization", f"Bearer {self.tokens['agent']}")
        request.add_header("Content-Type", "application/json")
        with urllib.request.urlopen(request, timeout=70) as answer:
            return answer.headers

    def api(self, role: str, method: str, path: str, body=None):
        return self.server.api(self.tokens[role], method, path, body)

    def address(self, path: str = "approvals/") -> str:
        return f"{self.server.url}/w/{self.slug}/{path}"


@pytest.fixture
def place(server, request) -> Place:
    slug = request.node.name.lower().replace("_", "-").replace("[", "-").replace("]", "")[-45:].strip("-")
    return Place(server, slug)


@pytest.fixture
def sign_in(browser, place) -> Iterator[Callable[..., Page]]:
    """`sign_in("rex", "reviewer")`: a page of a browser context of their own, with the sign-in done by hand."""
    contexts = []

    def enter(
        name: str = "rex",
        role: str = "reviewer",
        viewport=None,
        color_scheme: str = "light",
        undo: bool = False,
    ) -> Page:
        context = browser.new_context(viewport=viewport or DESKTOP, color_scheme=color_scheme)
        contexts.append(context)
        context.set_default_timeout(10_000)
        if not undo:  # most tests ask what follows a decision, not what comes before it is sent
            context.add_init_script("localStorage.setItem('icp-undo', 'off')")
        page = context.new_page()
        page.errors = []  # type: ignore[attr-defined]
        page.on("console", lambda message: message.type == "error" and page.errors.append(message.text))
        page.on("pageerror", lambda error: page.errors.append(str(error)))
        page.goto(place.address())
        page.get_by_label("User name").fill(place.person(name, role))
        page.get_by_label("Password").fill(PASSWORD)
        page.get_by_role("button", name="Sign in").click()
        page.wait_for_url("**/w/**")
        return page

    yield enter
    for context in contexts:
        context.close()
