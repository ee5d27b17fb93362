"""Every spelling of a path becomes one canonical path, or a refusal that says why."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controlplane.policy.model import Reason
from controlplane.policy.paths.canonical import (
    CanonicalPath,
    InvalidPath,
    canonicalize,
    fold_case,
    to_absolute,
    to_printable,
)
from controlplane.policy.paths.filesystem import Location, resolve_lexically
from tests.policy import gate_cases

ROOT = "/home/ada/acme"
WINDOWS = r"C:\Users\Ada\acme"
SHARE = r"\\server\team\acme"


def place(raw, *, root=ROOT, cwd=None, writing=True):
    return canonicalize(raw, root=root, cwd=cwd, writing=writing)


def reason(raw, **where):
    placed = place(raw, **where)
    assert isinstance(placed, InvalidPath), placed
    assert placed.message
    return placed.reason


@pytest.mark.parametrize(
    ("raw", "path", "dotted"),
    [
        ("src/a.ts", "src/a.ts", "src/a.ts"),
        ("./src//a.ts", "src/a.ts", "src/a.ts"),
        ("src/./x/../a.ts", "src/a.ts", "src/x/../a.ts"),
        (f"{ROOT}/src/a.ts", "src/a.ts", "src/a.ts"),
        (f"{ROOT}/./src/../src/a.ts", "src/a.ts", "src/../src/a.ts"),
        ("../acme/src/a.ts", "src/a.ts", "src/a.ts"),
        ("../../ada/acme/src/a.ts", "src/a.ts", "src/a.ts"),
        (f"{ROOT}/../acme/a.ts", "a.ts", "a.ts"),
        ("src/a..b.ts", "src/a..b.ts", "src/a..b.ts"),
        ("src/..hidden", "src/..hidden", "src/..hidden"),
        ("src/[id]/{x}.ts", "src/[id]/{x}.ts", "src/[id]/{x}.ts"),
        ("routes/$id.tsx", "routes/$id.tsx", "routes/$id.tsx"),
        ("src/a b.ts", "src/a b.ts", "src/a b.ts"),
        ("src/u\u0308.ts", "src/\u00fc.ts", "src/\u00fc.ts"),
        ("src/100%.ts", "src/100%.ts", "src/100%.ts"),
        (".", "", ""),
        ("src/..", "", "src/.."),
        (ROOT, "", ""),
    ],
)
def test_spellings_of_a_posix_session(raw, path, dotted):
    assert place(raw) == CanonicalPath(path, dotted)


@pytest.mark.parametrize(
    ("raw", "cwd", "path"),
    [
        ("a.ts", "src", "src/a.ts"),
        ("../a.ts", "src", "a.ts"),
        ("a.ts", f"{ROOT}/src/", "src/a.ts"),
        ("a.ts", f"{ROOT}/src/../lib", "lib/a.ts"),
        (f"{ROOT}/a.ts", "src", "a.ts"),
        ("a.ts", "", "a.ts"),
        ("acme/a.ts", "/home/ada", "a.ts"),
    ],
)
def test_relative_paths_are_taken_from_the_folder_of_the_call(raw, cwd, path):
    assert place(raw, cwd=cwd).path == path


@pytest.mark.parametrize(
    ("raw", "cwd"),
    [
        ("../x", None),
        ("../acme-evil/x", None),
        ("/etc/passwd", None),
        (f"{ROOT}-evil/x", None),
        ("/proc/self/cwd/a.ts", None),
        ("~", None),
        ("~/x", None),
        ("~root/x", None),
        ("$HOME/x", None),
        ("${HOME}/x", None),
        ("%USERPROFILE%/x", None),
        ("a.ts", "/tmp"),
        ("a.ts", "~"),
        ("a.ts", ".."),
        ("/" + "../" * 9 + "x", None),
        # detours: a folder on the way could be a link, and nobody here can look
        ("/home/max/../ada/acme/x", None),
        ("src/out/../../../acme/x", None),
    ],
)
def test_what_lies_outside(raw, cwd):
    assert reason(raw, cwd=cwd) is Reason.OUTSIDE_WORKSPACE


@pytest.mark.parametrize(
    "raw",
    [
        "   ",
        "src/a.ts/",
        "src/*.ts",
        "src/?.ts",
        "a\0b",
        "a\nb",
        "a\rb",
        "a\u2028b",
        "a\u202egnp.ts",
        "a\u200b.ts",
        "\ufeffa.ts",
        "a\ud800b",
        "src/a.ts.",
        "src/a.ts ",
        "src/a\u00a0",
        "src /a.ts",
        "src/...",
        "src/a.ts:stream",
        "C:/Users/x",
        "C:x",
        "C:\\x",
        "src\\a.ts",
        "\\\\server\\share\\x",
        "//server/share/x",
        "///etc/passwd",
        "src/%2e%2e/x",
        "src%2Fa",
        "a%5cb",
        "a%00b",
        "a%25b",
        "src/\uff0e\uff0e/x",
        "src\uff0fx",
        "src/\u2026",
        "a\uff1ab",
        "a" * 256,
        "\u00e9" * 128,
        "a/" * 2049,
        "file:///home/ada/acme/a.ts",
        "file:a.ts",
        "https://example.org/a.ts",
        "vscode-remote://host/a.ts",
        "$WORKSPACE/a.ts",
        "${WORKSPACE}/a.ts",
        "./~/x",
        "./$HOME/x",
        "git~1/config",
        "src/GIT~1/hooks/pre-commit",
    ],
)
def test_what_is_no_path(raw):
    assert reason(raw) is Reason.INVALID_PATH


@pytest.mark.parametrize("raw", [None, "", 7, True, ["src/a.ts"], {"path": "a"}, b"a.ts"])
def test_only_text_is_a_path(raw):
    assert reason(raw) is Reason.INVALID_INPUT


@pytest.mark.parametrize("raw", ["src/*.ts", "src/", "src/?.ts"])
def test_who_only_reads_may_name_a_folder_or_a_wildcard(raw):
    assert isinstance(place(raw, writing=False), CanonicalPath)


@pytest.mark.parametrize("root", ["", "acme", "/home/../acme", "C:acme"])
def test_a_root_must_be_an_absolute_folder(root):
    assert reason("a.ts", root=root) is Reason.INVALID_PATH


def test_a_long_folder_and_a_long_path_are_too_long_together():
    assert reason("b/" * 1000 + "c", cwd="a/" * 1500) is Reason.INVALID_PATH


@pytest.mark.parametrize(
    ("raw", "cwd", "expected"),
    [
        ("a.ts", None, "a.ts"),
        ("a.ts", "src", "src/a.ts"),
        ("../a.ts", "src", "a.ts"),
        ("../a.ts", None, Reason.OUTSIDE_WORKSPACE),
        ("/a.ts", None, Reason.OUTSIDE_WORKSPACE),
        ("a.ts", "/src", Reason.OUTSIDE_WORKSPACE),
    ],
)
def test_without_a_root_nothing_absolute_can_be_placed(raw, cwd, expected):
    placed = place(raw, root=None, cwd=cwd)
    assert expected in (getattr(placed, "path", None), getattr(placed, "reason", None))


def test_the_whole_disk_can_be_a_workspace():
    assert place("/etc/hosts", root="/").path == "etc/hosts"
    assert reason("/../etc/hosts", root="/") is Reason.OUTSIDE_WORKSPACE


@pytest.mark.parametrize(
    ("raw", "root", "path"),
    [
        (r"C:\Users\Ada\acme\src\a.ts", WINDOWS, "src/a.ts"),
        (r"c:\Users\Ada\acme\src\a.ts", WINDOWS, "src/a.ts"),
        ("C:/Users/Ada/acme/src/a.ts", WINDOWS, "src/a.ts"),
        (r"src\a.ts", WINDOWS, "src/a.ts"),
        (r"src\..\lib\a.ts", WINDOWS, "lib/a.ts"),
        ("src/a.ts", "c:/Users/Ada/acme/", "src/a.ts"),
        (r"\\SERVER\Team\acme\a.ts", SHARE, "a.ts"),
        ("//server/team/acme/a.ts", SHARE, "a.ts"),
    ],
)
def test_spellings_of_a_windows_session(raw, root, path):
    assert place(raw, root=root).path == path


@pytest.mark.parametrize(
    ("raw", "root", "why"),
    [
        (r"D:\Users\Ada\acme\a.ts", WINDOWS, Reason.OUTSIDE_WORKSPACE),
        (r"C:\Users\Ada\acme-evil\a.ts", WINDOWS, Reason.OUTSIDE_WORKSPACE),
        (r"\\server\other\acme\a.ts", SHARE, Reason.OUTSIDE_WORKSPACE),
        (r"\\server\team\acme\a.ts", WINDOWS, Reason.OUTSIDE_WORKSPACE),
        (r"\\?\C:\Users\Ada\acme\a.ts", WINDOWS, Reason.INVALID_PATH),
        (r"~\a.ts", WINDOWS, Reason.OUTSIDE_WORKSPACE),
        (r"\Users\Ada\acme\a.ts", WINDOWS, Reason.INVALID_PATH),
        ("/Users/Ada/acme/a.ts", WINDOWS, Reason.INVALID_PATH),
        ("C:a.ts", WINDOWS, Reason.INVALID_PATH),
        (r"src\a.ts:stream", WINDOWS, Reason.INVALID_PATH),
        (r"src\a.ts.", WINDOWS, Reason.INVALID_PATH),
        ("src\\", WINDOWS, Reason.INVALID_PATH),
        (r"src\NUL", WINDOWS, Reason.INVALID_PATH),
        ("com1.txt", WINDOWS, Reason.INVALID_PATH),
        (r"SETTIN~1.JSO", WINDOWS, Reason.INVALID_PATH),
    ],
)
def test_what_a_windows_session_may_not_name(raw, root, why):
    assert reason(raw, root=root) is why


def test_a_device_name_of_windows_is_a_plain_name_elsewhere():
    assert place("src/con.ts").path == "src/con.ts"


@pytest.mark.parametrize("folded", [".GIT/Config", ".git/\u017fettings", ".GIT/\u212aelvin"])
def test_folding_meets_what_file_systems_fold(folded):
    assert fold_case(folded) == fold_case(folded.lower()) == fold_case(folded.upper())


def test_a_hostile_path_is_shown_with_its_escapes_and_not_at_length():
    assert to_printable("a\u202eb\n") == "a\\u202eb\\n"
    assert to_printable("x" * 500) == "x" * 120 + "…"


SEGMENTS = st.sampled_from(
    ["..", ".", "", "src", "a.ts", "acme", "ada", "home", "~", "é", "e\u0301", "C:", "\\"]
)
SPELLINGS = st.one_of(
    st.text(max_size=40),
    st.lists(SEGMENTS, max_size=8).map("/".join),
    st.lists(SEGMENTS, max_size=8).map(lambda parts: ROOT + "/" + "/".join(parts)),
)


@given(SPELLINGS, st.sampled_from([None, "src", ROOT + "/src", "/tmp", "..", "a\nb"]), st.booleans())
def test_a_canonical_path_never_escapes_and_is_canonical(raw, cwd, writing):
    placed = place(raw, cwd=cwd, writing=writing)
    if isinstance(placed, InvalidPath):
        return
    path = placed.path
    assert not path or all(part not in {"", ".", ".."} for part in path.split("/"))
    assert unicodedata.is_normalized("NFC", path)
    led = resolve_lexically(placed.dotted)
    assert (led.location, led.path) == (Location.INSIDE, path)
    if path:
        assert place(path, writing=writing) == CanonicalPath(path, path)
        assert place(f"{ROOT}/{path}", writing=writing) == CanonicalPath(path, path)


@given(st.text(max_size=30))
def test_folding_twice_changes_nothing(text):
    assert fold_case(fold_case(text)) == fold_case(text)


def _lexical_cases():
    for case in gate_cases.load("path"):
        value = case["call"]["input"]
        path = value.get("file_path") if isinstance(value, dict) else None
        if isinstance(path, str) and "path" not in value and not case["workspace"].get("symlinks"):
            yield pytest.param(path, case["expect"], id=case["id"])


WORDS = {
    Reason.INVALID_INPUT: "INVALID_INPUT",
    Reason.INVALID_PATH: "INVALID_PATH",
    Reason.OUTSIDE_WORKSPACE: "PATH_ESCAPE",
}


@pytest.mark.parametrize(("raw", "expected"), list(_lexical_cases()))
def test_gate_cases(raw, expected):
    placed = place(raw.replace("@ROOT@", ROOT).replace("@OUTSIDE@", "/home/ada/outside"))
    refused = expected.get("error_type_in") or [expected["error_type"]]
    if isinstance(placed, InvalidPath):
        assert WORDS[placed.reason] in refused
    else:
        assert not set(WORDS.values()) >= set(refused)


@pytest.mark.parametrize("root", ["/mnt/c/work/shop", "/cygdrive/d/shop"])
def test_a_drive_of_windows_has_its_short_names_and_devices_from_any_system(root):
    for name in ("CLAUDE~1/settings.json", "src/nul.txt", "con"):
        assert canonicalize(name, root=root, cwd=None, writing=True).reason is Reason.INVALID_PATH
        assert canonicalize(name, root="/home/ada/mnt/c/shop", cwd=None, writing=True).path == name
    assert canonicalize("src/a.ts", root=root, cwd=None, writing=True).path == "src/a.ts"


@pytest.mark.parametrize(
    ("raw", "root", "path"),
    [
        ("/tmp/a/../b", "/home/ada/acme", "/tmp/b"),
        ("../../x", "/home/ada/acme", "/home/x"),
        ("~/x", "/home/ada/acme", "~/x"),
        ("d:\\x\\y", "C:\\acme", "d:/x/y"),
    ],
)
def test_where_a_path_outside_lies(raw, root, path):
    assert to_absolute(raw, root=root, cwd=None) == path


@pytest.mark.parametrize(
    ("raw", "root"),
    [
        (7, "/home/ada/acme"),
        ("", "/home/ada/acme"),
        ("/tmp/x", "acme"),
        ("/tmp/x", None),
        ("~root/x", "/home/ada/acme"),
        ("~/../x", "/home/ada/acme"),
        ("/tmp/a:b", "/mnt/c/acme"),
        ("C:/a/con", "C:/acme"),
        ("//server/share/x", "C:/acme"),
    ],
)
def test_what_lies_nowhere_that_is_known(raw, root):
    assert to_absolute(raw, root=root, cwd=None) is None
