"""Every text of a template is marked for translation."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from django.conf import settings

TEMPLATES = settings.BASE_DIR / "templates"
FILES = sorted(path.relative_to(TEMPLATES).as_posix() for path in TEMPLATES.rglob("*.html"))

# For developers, or rendered when nothing else may be at work.
NOT_TRANSLATED = {"styleguide.html", "styleguide/_buttons.html", "styleguide/_forms.html", "500.html"}
ATTRIBUTES = {"aria-label", "title", "placeholder", "alt"}
CODE = {"code", "kbd", "pre", "script", "style"}  # the same in every language
NAMES = re.compile(
    r"""(?x) \.intentignore | active_intents\.yaml | intent_map\.md | agent_trace\.jsonl | AGENT\.md | INT-\d+ | UTC | SHA-256
    | (?: https?:// | [\w.-]+/ ) [\w./*:-]* | \w+_\w+ | &\w+;"""
)
MARKED = re.compile(r"(?s)\{% comment .*?endcomment %\}|\{#.*?#\}|\{% blocktranslate.*?endblocktranslate %\}")
CLASS_BLOCKS = re.compile(r"(?s)\{% block \w+_class %\}.*?\{% endblock %\}")
TAGS = re.compile(r"(?s)\{%.*?%\}|\{\{.*?\}\}")
STRING_ARGUMENT = re.compile(r'\b(?:label|title|text|action|note|hint)="(?P<text>[^"]*)"')


class TextCollector(HTMLParser):
    """Collect the visible texts of a page, attributes that are read aloud included."""

    def __init__(self):
        super().__init__(convert_charrefs=False)
        self.texts, self.code = [], 0

    def handle_starttag(self, tag, attrs):
        self.code += tag in CODE
        self.texts += [value or "" for name, value in attrs if name in ATTRIBUTES]

    def handle_startendtag(self, tag, attrs):
        self.texts += [value or "" for name, value in attrs if name in ATTRIBUTES]

    def handle_endtag(self, tag):
        self.code -= tag in CODE

    def handle_data(self, data):
        if not self.code:
            self.texts.append(data)


def unmarked_texts(source):
    source = CLASS_BLOCKS.sub("", MARKED.sub("", source))
    includes = re.findall(r"(?s)\{% include .*?%\}", source)
    collector = TextCollector()
    # A template tag separates two texts, but not the attributes of an HTML tag.
    source = TAGS.sub("\N{NULL}", source)
    collector.feed(re.sub(r"<[^<>]*>", lambda tag: tag[0].replace("\N{NULL}", " "), source))
    texts = [text for data in collector.texts for text in data.split("\N{NULL}")]
    texts += [match["text"] for tag in includes for match in STRING_ARGUMENT.finditer(tag)]
    return [text.strip() for text in texts if re.search(r"[A-Za-z]", NAMES.sub("", text))]


@pytest.mark.parametrize("name", [name for name in FILES if name not in NOT_TRANSLATED])
def test_every_text_of_a_template_is_marked(name):
    assert unmarked_texts((TEMPLATES / name).read_text()) == []


@pytest.mark.parametrize(
    ("source", "texts"),
    [
        ("<p>Hello</p>", ["Hello"]),
        ('<p>{% translate "Hello" %}</p>', []),
        ("<p>{% blocktranslate %}Hello {{ name }}{% endblocktranslate %}, {{ name }}</p>", []),
        ("<p>{{ number }} files</p>", ["files"]),
        ('<a aria-label="Next" href="{% url "x" %}">{# Note #}</a>', ["Next"]),
        ('{% include "components/empty.html" with icon="lines" title="Nothing" %}', ["Nothing"]),
        ("<code>git push</code> <kbd>Esc</kbd>", []),
    ],
)
def test_unmarked_texts_are_found(source, texts):
    assert unmarked_texts(source) == texts


def test_the_exceptions_exist():
    assert set(FILES) >= NOT_TRANSLATED
