"""The pages of the ledger, the map and the lessons, as signed-in members see them."""

from __future__ import annotations

import pytest

from intents.models import Intent
from tests import builders
from traces.models import LedgerEntry

pytestmark = pytest.mark.django_db

COUNTING = "still being counted"
HOSTILE = "<script>alert(1)</script>"


@pytest.fixture
def story(acme, agent):
    """An intent, a session with decisions, two traces and a lesson."""
    builders.intent(acme, "INT-001", name="Build Weather API", owned_scope=["src/**"])
    agent.select("INT-001")
    agent.gate("Read", file_path="src/a.ts")
    agent.gate("Write", file_path="docs/b.md", content="x")
    for path in ("src/a.ts", "docs/b.md"):
        mutation = {
            "path": path,
            "content": "one\n",
            "mutation_class": "INTENT_EVOLUTION",
            "problems": HOSTILE,
        }
        assert agent.post("sessions/s-1/traces", mutation).status_code == 201
    return acme


def page(client, path, user, /, **query):
    client.force_login(user)
    return client.get(f"/w/acme/{path}", query)


def text(response):
    assert response.status_code == 200, response.content[:500]
    return response.content.decode()


def test_the_list_shows_decisions_and_traces_newest_first(client, story, ivy):
    body = text(page(client, "traces/", ivy))
    assert body.index("docs/<b>b.md") or body.index("b.md")
    entries = page(client, "traces/", ivy).context["entries"]
    assert [entry["kind"] for entry in entries[:4]] == ["lesson", "trace", "lesson", "trace"]
    assert {entry["kind"] for entry in entries} >= {"trace", "decision", "session", "intent"}
    asked = LedgerEntry.objects.get(kind="approval").pk
    assert [entry["kind"] for entry in entries if asked in entry["numbers"]] == ["decision"]
    numbers = [entry["number"] for entry in entries]
    assert numbers == sorted(numbers, reverse=True)


@pytest.mark.parametrize(
    ("query", "kinds"),
    [
        ({"path": "src/a.ts"}, ["lesson", "trace", "decision"]),
        ({"path": "src/a.ts", "kind": "trace"}, ["trace"]),
        ({"intent": "INT-404"}, []),
        ({"session": "s-1", "q": "b.md"}, ["lesson", "trace", "decision"]),
        ({"q": "nothing like it"}, []),
        ({"q": "\x00"}, None),
    ],
)
def test_filters_are_in_the_address(client, story, ivy, query, kinds):
    entries = page(client, "traces/", ivy, **query).context["entries"]
    if kinds is not None:
        assert [entry["kind"] for entry in entries] == kinds


def test_pages_lead_back_and_forth(client, story, ivy, monkeypatch):
    monkeypatch.setattr("traces.pages.trace_list.PAGE_SIZE", 2)
    first = page(client, "traces/", ivy)
    assert first.context["newer_url"] is None
    second = client.get(f"/w/acme/traces/{first.context['older_url']}")
    assert second.context["entries"][0]["number"] < first.context["entries"][-1]["number"]
    back = client.get(f"/w/acme/traces/{second.context['newer_url']}")
    assert back.context["entries"] == first.context["entries"]


@pytest.mark.parametrize("query", [{"path": "src/a.ts"}, {"path": "src"}, {"q": "A.TS"}], ids=str)
def test_the_export_holds_what_the_list_shows(client, story, ivy, query):
    response = page(client, "traces/export", ivy, **query)
    shown = page(client, "traces/", ivy, **query).context["entries"]
    assert b"".join(response.streaming_content).count(b"\n") == sum(len(entry["numbers"]) for entry in shown)


def test_the_map_shows_files_by_intents_and_answers_questions(client, story, ivy):
    response = page(client, "traces/map/", ivy, q="weather src")
    body = text(response)
    assert "Build Weather API" in body
    assert [answer.path for answer in response.context["results"]] == ["src/a.ts"]
    assert [touch["path"] for touch in response.context["outside"]] == ["docs/b.md"]
    assert response.context["unowned"] == [{"path": "docs/", "files": 1, "changed": 1}]
    assert response.context["owned_percent"] == 50
    assert "## INT-001: Build Weather API" in text(page(client, "traces/map/", ivy, format="markdown"))


def test_a_file_shows_its_intents_and_its_changes(client, story, ivy):
    response = page(client, "traces/map/file/src/a.ts", ivy)
    assert "src/**" in text(response)
    assert response.context["known_hash"].startswith("sha256:")
    assert [change["lines"] for change in response.context["changes"]] == ["1\N{EN DASH}1"]
    assert page(client, "traces/map/file/never/seen.ts", ivy).status_code == 404


def test_lessons_are_listed_and_escaped(client, story, ivy):
    body = text(page(client, "lessons/", ivy))
    assert HOSTILE not in body
    assert "&lt;script&gt;" in body
    markdown = text(page(client, "lessons/", ivy, format="markdown"))
    assert markdown.count("## Lesson Learned (") == 2


@pytest.mark.parametrize("path", ["traces/", "traces/map/", "lessons/"])
def test_empty_workspaces_have_pages_too(client, acme, ivy, path):
    assert page(client, path, ivy).status_code == 200


@pytest.mark.parametrize(
    "bound",
    [("traces/", 26), ("traces/map/", 13), ("traces/map/file/src/1.ts", 21), ("lessons/", 14)],
    ids=lambda bound: bound[0],
)
@pytest.mark.usefixtures("story")
def test_pages_cost_the_same_however_much_is_on_them(agent, ivy, django_assert_max_num_queries, bound):
    for number in range(20):
        agent.post("sessions/s-1/traces", {"path": f"src/{number}.ts", "content": "x"})
    client = builders.signed_in(ivy)
    path, queries = bound
    with django_assert_max_num_queries(queries):
        assert client.get(f"/w/acme/{path}").status_code == 200
    assert LedgerEntry.objects.filter(kind="trace").count() == 22


@pytest.mark.parametrize(
    "path", ["traces/", "traces/export", "traces/map/", "traces/map/file/src/a.ts", "lessons/"]
)
def test_strangers_see_nothing(client, story, max_, path):
    assert page(client, path, max_).status_code == 404


def test_a_file_whose_entries_are_not_counted_yet_is_shown_and_the_page_says_so(
    client, story, ivy, monkeypatch
):
    """As right after a large import."""
    assert COUNTING not in text(page(client, "traces/map/file/src/a.ts", ivy))
    monkeypatch.setattr("traces.counts.counters.MAX_UNCOUNTED", 0)
    Intent.objects.all().delete()
    shown = text(page(client, "traces/map/file/src/a.ts", ivy))
    assert COUNTING in shown
    assert "1 change" in shown


@pytest.mark.parametrize(
    "shown",
    [("traces/", {}, False), ("traces/", {"path": "src"}, True), ("traces/map/", {}, True)],
    ids=["list and facets", "directory", "map"],
)
def test_pages_say_that_a_large_import_is_still_being_counted(client, story, ivy, monkeypatch, shown):
    path, query, is_by_directory = shown
    assert COUNTING not in text(page(client, path, ivy, **query))
    monkeypatch.setattr("traces.counts.counters.MAX_UNCOUNTED", 1)
    said = text(page(client, path, ivy, **query))
    assert COUNTING in said
    assert ("do not show all of their files yet" in said) is is_by_directory
