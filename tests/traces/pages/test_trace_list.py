"""The trace browser as members meet it: drawer, links, news, exports, proofs."""

from __future__ import annotations

import csv
import io
import json

import pytest

from tests import builders
from traces.browser.export import escape_formula
from traces.ledger.merkle import verify_inclusion
from traces.ledger.redaction import redact
from traces.ledger.sealing import seal
from traces.models import LedgerEntry
from traces.timeline.describe_entries import describe

pytestmark = pytest.mark.django_db

FORMULA = "=HYPERLINK(1).ts"


@pytest.fixture
def busy(acme, agent):
    builders.intent(acme, "INT-001", owned_scope=["src/**"])
    agent.select("INT-001")
    agent.gate("Read", file_path="src/a.ts")
    agent.gate("Write", file_path="docs/b.md", content="<script>alert(1)</script>")
    for path in ("src/a.ts", FORMULA, "src/a.ts"):
        agent.post("sessions/s-1/traces", {"path": path, "content": "one\n"})
    return acme


@pytest.fixture
def ivys(ivy):
    return builders.signed_in(ivy)


def entries(**fields):
    return LedgerEntry.objects.filter(**fields).order_by("pk")


def get(client, query="", **headers):
    answer = client.get(f"/w/acme/traces/{query}", headers=headers)
    assert answer.status_code == 200
    return answer


@pytest.mark.parametrize("name", ["pk", "entry_id"])
def test_a_link_opens_the_drawer_and_marks_the_row(busy, ivys, name):
    entry = entries(kind="decision", outcome="ask").last()
    answer = get(ivys, f"?entry={getattr(entry, name)}")
    text = answer.content.decode()
    assert answer.context["drawer"]["number"] == entry.pk
    assert f'data-entry="{entry.pk}" aria-current="true"' in text
    assert "&lt;script&gt;alert(1)" in text
    assert "<script>alert(1)" not in text
    assert "Did not run" in text


def test_the_drawer_alone_is_what_htmx_asks_for(busy, ivys):
    entry = entries(kind="trace").first()
    alone = get(ivys, f"?kind=trace&entry={entry.pk}", **{"HX-Target": "drawer"})
    assert alone.content.decode().lstrip().startswith("<aside")
    assert "HX-Target" in alone["Vary"]
    following = entries(kind="trace", pk__gt=entry.pk).first().pk
    assert (alone.context["drawer"]["newer_url"], alone.context["drawer"]["older_url"]) == (
        f"?kind=trace&entry={following}",
        None,
    )


@pytest.mark.parametrize("name", ["999999", "no-such-id", "%00"])
def test_an_entry_that_is_not_there_opens_no_drawer(busy, ivys, name):
    assert get(ivys, f"?entry={name}").context["drawer"] is None


def test_an_entry_that_is_not_there_is_told(busy, ivys):
    assert "does not exist in this workspace" in get(ivys, "?entry=no-such-id").content.decode()


def test_a_link_to_an_old_entry_shows_the_page_that_it_stands_on(busy, agent, ivys, monkeypatch):
    monkeypatch.setattr("traces.pages.trace_list.PAGE_SIZE", 5)
    monkeypatch.setattr("traces.pages.trace_list.ENTRIES_ABOVE", 2)
    old = entries().first()
    for number in range(8):
        agent.gate("Read", file_path=f"src/{number}.ts")
    answer = get(ivys, f"?entry={old.pk}")
    numbers = [row["number"] for row in answer.context["entries"]]
    assert old.pk in numbers
    assert len([number for number in numbers if number > old.pk]) == 3
    assert answer.context["newer_url"]


def test_news_are_counted_and_nothing_moves(busy, agent, ivys):
    url = get(ivys, "?kind=decision").context["news_url"]
    assert "new" not in ivys.get(f"/w/acme/traces/{url}").content.decode().split(">", 1)[1].replace(
        "news", ""
    )
    agent.gate("Read", file_path="src/a.ts")
    agent.post("sessions/s-1/traces", {"path": "src/a.ts", "content": "x"})
    answer = ivys.get(f"/w/acme/traces/{url}")
    assert (answer.context["number"], answer.context["first_url"]) == (1, "?kind=decision")
    assert "1</span> new" in answer.content.decode()


def test_a_sealed_entry_is_proved_on_the_page_and_in_a_file(busy, ivys):
    entry = entries(kind="trace").first()
    assert get(ivys, f"?entry={entry.pk}").context["drawer"]["view"].proof is None
    assert ivys.get(f"/w/acme/traces/proof/{entry.pk}").status_code == 404
    seal(busy.pk)
    answer = get(ivys, f"?entry={entry.pk}")
    assert answer.context["drawer"]["view"].proof.is_valid
    assert "Proof verified" in answer.content.decode()
    proof = ivys.get(f"/w/acme/traces/proof/{entry.pk}").json()
    hashes = [bytes.fromhex(one) for one in proof["hashes"]]
    leaf, root = bytes.fromhex(proof["leaf_hash"]), bytes.fromhex(proof["root"])
    assert verify_inclusion(leaf, proof["seq"], proof["size"], hashes, root)
    assert get(ivys, f"?entry=%23{proof['seq']}").context["drawer"]["number"] == entry.pk


def test_a_redacted_entry_still_opens(busy, ivys):
    entry = entries(kind="trace").first()
    redact(entry, reason="secret", actor="Ada")
    assert "taken out" in get(ivys, f"?entry={entry.pk}").content.decode()


def list_numbers(answer):
    """The entries that the rows of a list tell of, newest first."""
    return sorted((number for row in answer.context["entries"] for number in row["numbers"]), reverse=True)


def export(client, query):
    return b"".join(client.get(f"/w/acme/traces/export{query}").streaming_content).decode()


@pytest.mark.parametrize(
    "query", ["?", "?kind=trace", "?path=src", "?q=a.ts&-kind=decision", "?agent=nobody"]
)
def test_an_export_holds_exactly_what_the_list_shows(busy, ivys, query):
    seal(busy.pk)
    listed = list_numbers(get(ivys, query))
    lines = [json.loads(line) for line in export(ivys, f"{query}&format=jsonl").splitlines()]
    table = list(csv.DictReader(io.StringIO(export(ivys, f"{query}&format=csv"))))
    assert [line["number"] for line in lines] == listed
    assert [int(line["number"]) for line in table] == listed
    for line in lines:
        assert line["body"] is not None
        assert line["seq"] is not None
    assert [line["by"] for line in table] == [line["by"] for line in lines]
    assert all(line["by"].startswith("token ") for line in lines if line["kind"] == "trace")


def test_an_export_is_read_in_pieces(busy, ivys, monkeypatch):
    monkeypatch.setattr("traces.browser.export.CHUNK_SIZE", 2)
    lines = [json.loads(line)["number"] for line in export(ivys, "?").splitlines()]
    assert lines == list_numbers(get(ivys))


def test_no_cell_of_a_table_is_a_formula(busy, ivys):
    table = list(csv.DictReader(io.StringIO(export(ivys, "?kind=trace&format=csv"))))
    assert f"'{FORMULA}" in [line["paths"] for line in table]
    assert export(ivys, "?kind=trace&format=orchestration").count("\n") == 3
    assert ivys.get("/w/acme/traces/export?format=exe").status_code == 404


@pytest.mark.parametrize(
    "text", ["=1", "+1", "-1", "@x", "\t=1", "\r=1", " =1", "\N{FULLWIDTH EQUALS SIGN}1"]
)
def test_formulas_are_defused(text):
    assert escape_formula(text) == f"'{text}"
    assert escape_formula("src/a=b.ts") == "src/a=b.ts"
    assert (escape_formula(None), escape_formula(7)) == ("", "7")


def test_the_strip_zooms_and_facets_narrow(busy, ivys):
    answer = get(ivys, "?kind=decision")
    histogram = answer.context["histogram"]
    assert (
        sum(number for _, _, number in histogram["totals"])
        == answer.context["total"]
        == entries(kind="decision").count()
    )
    (column,) = [one for one in histogram["links"] if any(one.numbers)]
    zoomed = get(ivys, column.url)
    assert zoomed.context["total"] == answer.context["total"]
    facets = {facet["title"]: facet["items"] for facet in answer.context["facets"]}
    (held,) = [item for item in facets["Decision"] if item["label"] == "Held"]
    assert get(ivys, held["url"]).context["total"] == held["number"] == 1
    assert get(ivys, held["exclude_url"]).context["total"] == answer.context["total"] - 1
    assert facets["Kind"][0]["current"]
    assert get(ivys, facets["Kind"][0]["url"]).context["total"] == entries().count()


def test_names_with_odd_characters_break_no_page(acme, agent, ivys):
    builders.intent(acme, "INT-001", owned_scope=["**"])
    agent.select("INT-001", "s\n/..")
    answer = agent.post("traces", [odd_entry("src/x y#1.ts"), odd_entry("src/%0A&<b>.ts")])
    assert answer.status_code == 201, answer.content
    for entry in entries():
        get(ivys, f"?entry={entry.pk}")
    assert ivys.get("/w/acme/traces/map/").status_code == 200


def odd_entry(path):
    talk = {
        "url": "a\nb", "contributor": {"entity_type": "AI", "model_identifier": "<b>m</b>"},
        "ranges": [{"start_line": 1, "end_line": 2, "content_hash": "sha256:" + "a" * 64}],
        "related": [{"type": "specification", "value": "INT/\n9"}],
    }  # fmt: skip
    return {
        "id": f"id {path}", "timestamp": "2026-02-21T10:00:00Z", "vcs": {"revision_id": "r"},
        "files": [{"relative_path": path, "conversations": [talk]}],
    }  # fmt: skip


def test_the_drawer_says_who_made_an_entry(busy, ivys):
    entry = LedgerEntry.objects.filter(kind="trace").first()
    view = get(ivys, f"?entry={entry.pk}").context["drawer"]["view"]
    assert view.actor.startswith("token ")
    assert view.redaction is None


def test_the_drawer_says_who_took_a_body_out_and_why(busy, ivys):
    entry = LedgerEntry.objects.filter(kind="trace").first()
    redact(entry, reason="held a <b>password</b>", actor="person:1:Ada")
    answer = get(ivys, f"?entry={entry.pk}")
    gone = answer.context["drawer"]["view"].redaction
    assert (gone.actor, gone.reason) == ("Ada", "held a <b>password</b>")
    record = describe(LedgerEntry.objects.get(pk=gone.number))
    assert (record.verb, record.object) == ("Took out the content of the trace", entry.entry_id)
    assert "held a &lt;b&gt;password&lt;/b&gt;" in answer.content.decode()
