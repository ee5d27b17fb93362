"""Expected and current content hashes: which writes are stale."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import strategies as st

from controlplane.policy.model import (
    Policy,
    Verdict,
)
from tests.policy.builders import (
    ROOT,
    FakeFilesystem,
    bash,
    call,
    judge,
    said,
    sha256,
    snapshot,
    write,
)

ALLOW = ("allow", None, None)


IN_SRC = snapshot("src/**")


WORLD = FakeFilesystem.from_texts({"src/a.ts": "now"})


def hashed(value, path="src/a.ts", **more):
    return write(path, expected_content_hash=value, **more)


def test_the_expected_hash_must_be_the_current_one():
    assert said(judge(hashed(sha256("now")), IN_SRC, WORLD)) == ALLOW
    assert said(judge(hashed(sha256("now").upper().replace("SHA", "sha")), IN_SRC, WORLD)) == ALLOW
    decision = judge(hashed(sha256("before")), IN_SRC, WORLD)
    assert said(decision) == ("ask", "STALE_FILE", "hash_mismatch")
    assert decision.action_hint == "read_file"
    assert "Re-read it with read_file" in decision.error


def test_a_file_that_is_gone_is_another_file():
    assert said(judge(hashed(sha256("x"), "src/gone.ts"), IN_SRC, WORLD)) == (
        "ask",
        "STALE_FILE",
        "hash_mismatch",
    )


def test_where_nobody_knows_the_hash_it_is_believed():
    assert said(judge(hashed(sha256("x")), IN_SRC)) == ALLOW


@pytest.mark.parametrize("value", ["abc", "sha256:12", "md5:" + "0" * 64, 12345, [], ""])
def test_a_malformed_hash_is_refused_never_ignored(value):
    assert said(judge(hashed(value), IN_SRC, WORLD))[1:] == ("STALE_FILE", "hash_mismatch")
    assert said(judge(hashed(value), IN_SRC)) == ("deny", "HOOK_BLOCKED", "invalid_input")


def test_null_is_no_hash():
    assert said(judge(hashed(None), IN_SRC, WORLD)) == ALLOW


def test_what_the_caller_says_comes_before_the_disk():
    told = replace(hashed(sha256("buffer")), current_content_hashes={"src/a.ts": sha256("buffer")})
    assert said(judge(told, IN_SRC, WORLD)) == ALLOW
    spelled = replace(told, current_content_hashes={"/nowhere": "x", f"{ROOT}/src/a.ts": sha256("buffer")})
    assert said(judge(spelled, IN_SRC, WORLD)) == ALLOW
    other = replace(told, current_content_hashes={"src/b.ts": sha256("buffer")})
    assert said(judge(other, IN_SRC, WORLD))[1] == "STALE_FILE"
    junk = replace(told, current_content_hashes={"src/a.ts": 5})
    assert said(judge(junk, IN_SRC, WORLD))[1] == "STALE_FILE"


def test_a_right_hash_does_not_buy_scope():
    assert said(judge(hashed(sha256("now")), snapshot("docs/**"), WORLD))[2] == "not_in_scope"


def test_policy_may_require_a_hash_for_files_that_exist():
    state = snapshot("src/**", policy=Policy(require_content_hash=True))
    assert said(judge(write("src/a.ts"), state, WORLD)) == ("ask", "STALE_FILE", "hash_required")
    assert said(judge(write("src/new.ts"), state, WORLD)) == ALLOW
    assert said(judge(write("src/a.ts"), state)) == ALLOW  # nobody knows whether it exists
    assert said(judge(call("create_directory", {"path": "src/x"}), state, WORLD)) == ALLOW
    move = call("move_file", {"source": "src/new.ts", "destination": "src/a.ts"})
    assert said(judge(move, state, WORLD)) == ALLOW
    assert said(judge(call("delete_file", {"path": "src/a.ts"}), state, WORLD))[2] == "hash_required"


def test_a_file_that_cannot_be_hashed_but_is_there_needs_a_hash():
    class Unreadable(FakeFilesystem):
        def content_hash(self, path):
            return None

    state = snapshot("src/**", policy=Policy(require_content_hash=True))
    assert (
        said(judge(write("src/a.ts"), state, Unreadable.from_texts({"src/a.ts": ""})))[2] == "hash_required"
    )


NAMES = st.sampled_from(["src", "docs", "a.md", "b.ts", ".git", "config", ".env"])


DETOURS = st.lists(st.sampled_from(["./", ".//", "x/../", "src/../", "docs/./../"]), max_size=4)


@st.composite
def spelled(draw):
    """A path and another way to write it."""
    path = "/".join(draw(st.lists(NAMES, min_size=1, max_size=4)))
    root = f"{ROOT}/" if draw(st.booleans()) else ""
    return path, root + "".join(draw(DETOURS)) + path.replace("/", draw(st.sampled_from(["/", "//", "/./"])))


def test_no_hash_is_asked_for_a_folder_that_is_there_already():
    state = snapshot("**", policy=Policy(require_content_hash=True))
    world = FakeFilesystem.from_texts({"src/a.ts": "x\n"})
    assert judge(bash("mkdir -p src"), state, world).verdict is Verdict.ALLOW
    assert said(judge(bash("touch src/a.ts"), state, world))[2] == "hash_required"
