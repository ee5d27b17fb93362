"""The sample must be reproducible, and the estimate correct."""

from __future__ import annotations

import pytest

from tests.mutate.sample import MIN_PER_MODULE, compute_interval, get_module, render_report, select

GLOBS = [f"controlplane.policy.globs.parse.x_parse__mutmut_{number}" for number in range(900)]
HASHES = [f"controlplane.policy.paths.content_hashes.x_of__mutmut_{number}" for number in range(100)]


def test_every_module_gives_its_share_and_small_ones_enough():
    sample = select(GLOBS + HASHES, 50, [])
    modules = [get_module(name) for name in sample]
    assert (modules.count("globs.parse"), modules.count("paths.content_hashes")) == (45, MIN_PER_MODULE)


def test_the_same_mutants_are_chosen_whatever_their_order():
    sample = select(GLOBS + HASHES, 50, [])
    assert select([*reversed(HASHES), *reversed(GLOBS)], 50, []) == sample
    assert sample != sorted(sample)


def test_a_larger_sample_holds_the_smaller():
    assert set(select(GLOBS, 50, [])) < set(select(GLOBS, 100, []))


def test_without_a_size_all_that_fit_are_judged():
    assert sorted(select(GLOBS + HASHES, None, ["*.content_hashes.*"])) == sorted(HASHES)
    assert select(GLOBS, None, ["*.content_hashes.*"]) == []


@pytest.mark.parametrize(
    ("killed", "judged", "low", "high"),
    [(90, 100, 0.826, 0.945), (12, 12, 0.757, 1.0), (0, 12, 0.0, 0.243)],
)
def test_the_interval_is_wilsons(killed, judged, low, high):
    assert compute_interval(killed, judged) == pytest.approx((low, high), abs=0.001)


def test_the_figure_for_all_weighs_modules_by_their_size():
    fates = dict.fromkeys(GLOBS[:10], "killed") | dict.fromkeys(HASHES[:5], "survived")
    fates |= dict.fromkeys(HASHES[5:10], "timeout")
    lines = [line.split() for line in render_report(GLOBS + HASHES, fates).splitlines()]
    assert [line[0] for line in lines] == ["module", "globs.parse", "paths.content_hashes", "all"]
    assert lines[2][1:8] == ["100", "10", "0", "5", "5", "0", "50.0%"]
    assert lines[3][1:8] == ["1000", "20", "10", "5", "5", "0", "95.0%"]
