"""The look stays small, and its colours keep their contrast."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
STATIC = ROOT / "controlplane" / "static" / "icp"
TOKENS = dict(re.findall(r"--([\w-]+): light-dark\((#\w{6}, #\w{6})\)", (STATIC / "tokens.css").read_text()))
TONES = re.findall(r'\[data-tone="(\w+)"\] \{\n([^}]*)\}', (STATIC / "tokens.css").read_text())


def lines(*suffixes):
    return sum(len(p.read_text().splitlines()) for p in STATIC.iterdir() if p.suffix in suffixes)


def test_own_styles_and_scripts_stay_within_their_budget():
    assert lines(".css") <= 1300
    assert lines(".js") <= 940  # decision 23


@pytest.mark.parametrize("template", sorted((ROOT / "templates").rglob("*.html")), ids=lambda p: p.name)
def test_a_template_is_short_and_says_what_it_needs(template):
    text = template.read_text()
    assert len(text.splitlines()) <= 150
    assert "{#" in text or "{% comment %}" in text or "{% extends" in text or "styleguide" in str(template)


def luminance(colour):
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize("surface", ["surface", "canvas", "hover", "sunken", "raised", "accent-bg"])
@pytest.mark.parametrize(("text", "least"), [("text", 7), ("muted", 7), ("faint", 4.5), ("accent", 4.5)])
def test_text_can_be_read_on_every_surface(scheme, surface, text, least):
    pair = TOKENS[text].split(", ")[scheme], TOKENS[surface].split(", ")[scheme]
    assert contrast(*pair) >= least


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize(
    ("tone", "body"), [t for t in TONES if t[0] != "accent"], ids=lambda v: v if len(v) < 9 else ""
)
def test_a_meaning_can_be_read_on_its_tint(scheme, tone, body):
    values = dict(re.findall(r"--(\w+): light-dark\((#\w{6}, #\w{6})\)", body))
    fg, bg, solid = (values[name].split(", ")[scheme] for name in ("fg", "bg", "solid"))
    assert contrast(fg, bg) >= 4.5
    assert contrast(solid, TOKENS["surface"].split(", ")[scheme]) >= 3
