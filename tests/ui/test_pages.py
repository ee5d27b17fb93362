"""Every page draws from its written context, keeps the content security policy, and shows hostile text harmlessly."""

import re
from html.parser import HTMLParser

import pytest
from django.template.loader import render_to_string

from controlplane.pages import styleguide
from tests.test_wording import find_phrases
from tests.ui import approval_samples, samples
from tests.ui.hostile import NOW

pytestmark = pytest.mark.urls("tests.ui.urls")

VOID = {"area", "base", "br", "col", "hr", "img", "input", "link", "meta", "source", "wbr"}
SVG_SELF_CLOSED = {"use", "path", "circle", "rect"}


class Reader(HTMLParser):
    """Collects ids, what names them, handlers, and whether each element is closed by its own end tag."""

    def __init__(self):
        super().__init__()
        self.open, self.ids, self.named, self.problems, self.landmarks = [], [], [], [], []

    def handle_starttag(self, tag, attrs):
        self._look(tag, dict(attrs))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self._look(tag, dict(attrs))

    def handle_endtag(self, tag):
        if not self.open or self.open[-1] != tag:
            self.problems.append(f"</{tag}> closes {self.open[-3:]}")
        else:
            self.open.pop()

    def _look(self, tag, attrs):
        self.landmarks.append(tag)
        self.ids += [attrs["id"]] if "id" in attrs else []
        for name in ("aria-labelledby", "popovertarget", "for", "form"):
            self.named += [(name, attrs[name])] if attrs.get(name) else []
        if "style" in attrs or tag == "style" or any(name.startswith("on") for name in attrs):
            self.problems.append(f"inline style or handler on <{tag}>")
        if tag == "script" and not attrs.get("src"):
            self.problems.append("inline script")
        if tag == "button" and not ({"type", "name", "class"} & set(attrs)):
            self.problems.append("bare button")


def draw(name, rf):
    template, context = samples.PAGES[name]
    return render_to_string(template, samples.frame() | context(), request=rf.get("/w/storefront/"))


@pytest.fixture(params=samples.PAGES)
def page(request, rf):
    return draw(request.param, rf)


def test_a_page_is_well_formed_without_inline_code_and_every_reference_leads_somewhere(page):
    reader = Reader()
    reader.feed(page)
    assert reader.problems == []
    assert reader.open == []
    assert len(reader.ids) == len(set(reader.ids)), sorted(i for i in reader.ids if reader.ids.count(i) > 1)
    assert [wanted for wanted in reader.named if wanted[1] not in reader.ids] == []
    assert reader.landmarks.count("main") == 1
    assert reader.landmarks.count("h1") == 1


def test_hostile_text_is_escaped_and_its_direction_marks_are_drawn(page):
    assert "<script>alert" not in page
    page = re.sub(
        r"<textarea.*?</textarea>|<input[^>]*>", "", page, flags=re.DOTALL
    )  # what one edits stays as it is
    assert not re.search("[\u202a-\u202e\u2066-\u2069\u200b]", page)


def test_a_page_is_in_plain_words(page):
    assert find_phrases(re.sub(r"<[^>]*>", " ", page)) == []


def test_every_icon_that_is_used_is_drawn(page):
    drawn = set(re.findall(r'<symbol id="(i-[\w-]+)"', page))
    assert set(re.findall(r'href="#(i-[\w-]+)"', page)) <= drawn


def test_the_label_of_approve_names_each_grant_and_a_risky_call_takes_a_second_key(rf):
    edit, shell = draw("approvals/edit", rf), draw("approvals/shell", rf)
    for label in ("Approve once", "Approve for the session", "Approve for 30 min", "Widen the scope"):
        assert f">{label}</span>" in edit
    assert "data-arm" not in edit
    assert "data-arm" in shell
    assert "Not available: <bdi>the command deletes files</bdi>" in shell
    assert "This preview is incomplete." in shell


def test_who_may_not_decide_gets_no_form(rf):
    assert 'id="decide"' not in draw("approvals/yours", rf)
    assert "This is your agent&#x27;s request" in draw("approvals/yours", rf)


def test_the_tab_title_counts_what_waits(rf):
    assert "<title>(2) Approvals</title>" in draw("approvals/queue", rf)


def test_a_diff_can_be_read_side_by_side(rf):
    context = samples.frame() | approval_samples.approvals(styleguide.edit_sample(NOW))
    page = render_to_string("approvals/approval_list.html", context, request=rf.get("/", {"diff": "split"}))
    assert 'class="no missing"' in page


def test_the_style_guide_draws_itself(rf):
    request = rf.get("/styleguide")
    request.user = samples.User(username="rex")
    reader = Reader()
    reader.feed(styleguide.styleguide(request).content.decode())
    assert reader.problems == []
