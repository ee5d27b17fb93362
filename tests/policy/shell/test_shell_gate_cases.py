"""The shell cases of the gate, as far as the analysis alone decides them."""

from __future__ import annotations

import json
import posixpath
from pathlib import Path

import pytest

from controlplane.policy.paths.filesystem import UnknownFilesystem
from controlplane.policy.shell import analyse
from tests.policy import gate_cases

CASES = Path(__file__).parents[2] / "data" / "gate_cases"
STD = json.loads((CASES / "workspaces" / "std.json").read_text())
BASE = "/base"
TOKENS = {"@ROOT@": f"{BASE}/acme", "@OUTSIDE@": f"{BASE}/outside", "@HOME@": f"{BASE}/home"}
# Decided where links are followed, which this analysis does not do.
THROUGH_LINKS = {"sh-168", "sh-169"}
# A file outside of the workspace, whose observed name is relative to the base.
OUTSIDE_NAMES = {"sh-198": f"{BASE}/acme/brace.txt"}
# git also removes a directory with its last file.
EMPTIED_DIRECTORIES = {"sh-138": f"{BASE}/acme/src/billing"}


class CaseFilesystem(UnknownFilesystem):
    def __init__(self, files):
        self.files = files

    def is_dir(self, path):
        return path == "" or any(file.startswith(path + "/") for file in self.files)

    def list_files(self, path):
        return [file for file in self.files if not path or file.startswith(path + "/")]

    def list_names(self, path):
        return list({file[len(path) :].strip("/").split("/")[0] for file in self.list_files(path)})

    def list_links(self, path):
        return []


def cases(name):
    return [pytest.param(case, id=case["id"]) for case in gate_cases.load(f"shell-{name}")]


def substitute(text):
    for token, directory in TOKENS.items():
        text = text.replace(token, directory)
    return text


def analyse_case(case, *, on_disk=True):
    call_input = case["call"]["input"]
    cwd = call_input.get("cwd", "")
    files = [*STD["files"], *case["workspace"].get("files_extra", {}), ".intentignore", ".git/hooks/sample"]
    return analyse(
        substitute(call_input["command"]),
        cwd=None if cwd.startswith("..") else cwd,
        root=TOKENS["@ROOT@"],
        filesystem=CaseFilesystem(files) if on_disk else None,
    )


def absolute(path):
    raw = TOKENS["@HOME@"] + path.raw[1:] if path.raw.startswith("~") else path.raw
    return posixpath.normpath(posixpath.join(TOKENS["@ROOT@"], path.cwd, raw))


def missed(case, analysis):
    observed = [path for paths in (case.get("observed") or {}).values() for path in paths]
    reported = [(absolute(path), path.recursive) for path in analysis.writes]
    changed = (posixpath.normpath(posixpath.join(TOKENS["@ROOT@"], substitute(path))) for path in observed)
    return [
        path
        for path in changed
        if not any(
            path == name or (recursive and path.startswith(name + "/")) for name, recursive in reported
        )
        and path not in (EMPTIED_DIRECTORIES.get(case["id"]), OUTSIDE_NAMES.get(case["id"]))
    ]


@pytest.mark.parametrize("on_disk", [True, False])
@pytest.mark.parametrize("case", cases("readonly"))
def test_a_command_that_only_reads_is_safe(case, on_disk):
    analysis = analyse_case(case, on_disk=on_disk)
    assert analysis.safe, analysis.unknown
    assert analysis.parts


@pytest.mark.parametrize("case", cases("writes"))
def test_what_bash_changed_is_reported_or_known_to_be_unknown(case):
    analysis = analyse_case(case)
    assert not analysis.safe
    if case["id"] not in THROUGH_LINKS:
        assert analysis.unknown or not missed(case, analysis)


@pytest.mark.parametrize("case", cases("writes"))
def test_a_command_that_must_be_allowed_has_known_targets(case):
    expected = case["expect"]
    if expected["decision"] == "allow" and "ask" not in expected.get("decision_in", []):
        assert not analyse_case(case).unknown
        assert not analyse_case(case, on_disk=False).unknown


@pytest.mark.parametrize("case", cases("writes"))
def test_a_command_that_must_be_refused_names_a_target(case):
    expected = case["expect"]
    if expected["decision"] == "deny" and "decision_in" not in expected and case["session"]["intent"]:
        assert analyse_case(case).writes


@pytest.mark.parametrize("on_disk", [True, False])
@pytest.mark.parametrize("case", cases("tricks"))
def test_a_trick_is_never_safe(case, on_disk):
    analysis = analyse_case(case, on_disk=on_disk)
    assert not analysis.safe
    assert analysis.unknown or not missed(case, analysis)
    if case["expect"]["decision"] == "ask":
        assert analysis.unknown
