from __future__ import annotations

import pytest

from controlplane.policy.model import ErrorType, Policy
from controlplane.policy.paths.filesystem import UnknownFilesystem
from controlplane.policy.rules import constraints, dependencies
from controlplane.policy.rules.constraints import FileChange
from tests.policy.builders import bash, call, intent, judge, said, snapshot, write


def under(*rules, scope=("**",), **more):
    return snapshot(intent=intent(*scope, constraints=rules), **more)


class KnownFilesystem(UnknownFilesystem):
    """What the session has changed before, and what some files hold."""

    def __init__(self, changed=(), **files):
        self.changed, self.files = changed, {name.replace("__", "/"): text for name, text in files.items()}

    def list_session_changes(self):
        return self.changed

    def read_text(self, path):
        return self.files.get(path)


def refused(the_call, *rules, world=None):
    decision = judge(the_call, under(*rules), world=world or KnownFilesystem())
    return (
        (decision.reason, decision.error) if decision.error_type is ErrorType.CONSTRAINT_VIOLATION else None
    )


NO_LOG = {
    "type": "forbid_pattern",
    "pattern": r"console\.log",
    "scope": "src/**/*.ts",
    "message": "use the logger",
}


def test_text_and_unknown_types_are_guidance():
    for rule in ("Must be fast", {"type": "TECHNICAL", "rule": "x"}, {"rule": "x"}, None, 5):
        assert said(judge(write("src/a.ts"), under(rule))) == ("allow", None, None)


def test_a_forbidden_pattern_is_refused_in_new_text():
    reason, text = refused(write("src/a.ts", "console.log(1)"), NO_LOG)
    assert reason == "forbid_pattern"
    assert text.startswith("Constraint Violation: [src/a.ts] would hold what matches")
    assert "use the logger" in text
    assert refused(write("src/a.ts", "logger.info(1)"), NO_LOG) is None
    assert refused(write("docs/a.md", "console.log(1)"), NO_LOG) is None


@pytest.mark.parametrize(
    ("rule", "path", "text"),
    [
        (NO_LOG, "SRC/A.TS", "console.log(1)"),
        ({"type": "max_file_lines", "max_lines": 1, "scope": ["src/*"]}, "Src/a", "1\n2\n"),
        ({"type": "require_file", "file": "docs/**", "scope": "src/**"}, "SRC/a", ""),
        ({"type": "no_new_dependency"}, "PACKAGE.JSON", '{"dependencies": {"x": "1"}}'),
    ],
)
def test_another_case_is_no_way_around_where_paths_have_none(rule, path, text):
    state = under(rule, policy=Policy(case_insensitive_paths=True))
    decision = judge(write(path, text), state, world=KnownFilesystem(**{"PACKAGE.JSON": "{}"}))
    assert decision.error_type is ErrorType.CONSTRAINT_VIOLATION


def test_a_needed_file_counts_in_any_case_where_paths_have_none():
    rule = {"type": "require_file", "file": "docs/**", "scope": "src/**"}
    state = under(rule, policy=Policy(case_insensitive_paths=True))
    assert said(judge(write("src/a", ""), state, world=KnownFilesystem(("DOCS/a.md",)))) == (
        "allow",
        None,
        None,
    )


def test_one_that_cannot_be_read_hides_no_other_and_all_name_their_files():
    broken = {"type": "forbid_pattern", "pattern": "(", "scope": "docs/**"}
    written = [FileChange("src/a.ts", "write", "", "console.log(1)", is_full_text=True)]
    found = list(constraints.find_violations([broken, NO_LOG], written, KnownFilesystem()))
    assert [("forbids" in one.text, one.paths) for one in found] == [
        (False, ("src/a.ts",)),
        (True, ("src/a.ts",)),
    ]
    assert judge(write("src/a.ts", "console.log(1)"), under(NO_LOG), world=KnownFilesystem()).offending == (
        "src/a.ts",
    )


def test_an_edit_answers_for_what_it_adds_only():
    def edit(old, new):
        return call("Edit", {"file_path": "src/a.ts", "old_string": old, "new_string": new})

    assert refused(edit("a", "console.log(a)"), NO_LOG)
    assert refused(edit("console.log(a); b", "console.log(a); c"), NO_LOG) is None
    assert refused(edit("console.log(a)", "a"), NO_LOG) is None
    assert refused(edit("console.log(a)", "console.log(a); console.log(b)"), NO_LOG)


@pytest.mark.parametrize(
    "the_call",
    [
        call(
            "MultiEdit",
            {"file_path": "src/a.ts", "edits": [{"old_string": "a", "new_string": "console.log(1)"}]},
        ),
        call("insert_content", {"path": "src/a.ts", "line": 1, "content": "console.log(1)"}),
        call(
            "apply_diff",
            {"path": "src/a.ts", "diff": "<<<<<<< SEARCH\na\n=======\nconsole.log(1)\n>>>>>>> REPLACE"},
        ),
        call(
            "apply_patch",
            {"patch": "*** Begin Patch\n*** Update File: src/a.ts\n@@\n-a\n+console.log(1)\n*** End Patch"},
        ),
        call(
            "replace_in_file",
            {"path": "src/a.ts", "diff": "------- SEARCH\na\n=======\nconsole.log(1)\n+++++++ REPLACE\n"},
        ),
        call(
            "edit",
            {"filePath": "src/a.ts", "oldString": "a", "newString": "console.log(1)"},
            agent="opencode",
        ),
        bash("echo 'console.log(1)' > src/a.ts"),
    ],
)
def test_every_way_of_writing_is_looked_at(the_call):
    assert refused(the_call, NO_LOG)[0] == "forbid_pattern"


def test_the_replaced_side_of_a_block_is_not_new_text():
    diff = "<<<<<<< SEARCH\nconsole.log(1)\n=======\nlog(1)\n>>>>>>> REPLACE"
    assert refused(call("apply_diff", {"path": "src/a.ts", "diff": diff}), NO_LOG) is None


def test_content_that_is_no_text_is_looked_at_as_json():
    assert refused(write("src/a.ts", {"x": "console.log"}), NO_LOG)


def test_too_many_lines():
    rule = {"type": "max_file_lines", "max_lines": 2, "scope": ["src/**"]}
    assert refused(write("src/a.ts", "1\n2\n3\n"), rule)[1].startswith(
        "Constraint Violation: [src/a.ts] would be longer than 2 lines."
    )
    assert refused(write("src/a.ts", "1\n2\n"), rule) is None
    assert refused(call("delete_file", {"path": "src/a.ts"}), rule) is None


def edit(path, old, new):
    return call("Edit", {"file_path": path, "old_string": old, "new_string": new})


@pytest.mark.parametrize(
    ("old", "new", "is_refused"),
    [
        ("b", "b\nbb", True),  # 3 lines and one more
        ("b", "B", False),
        ("b\n", "", False),
        ("a\nb\n", "a\n", False),
        ("", "d\n", True),
    ],
)
def test_an_edit_is_counted_with_the_file_that_it_changes(old, new, is_refused):
    rule = {"type": "max_file_lines", "max_lines": 3}
    found = refused(edit("a.ts", old, new), rule, world=KnownFilesystem(**{"a.ts": "a\nb\nc\n"}))
    assert (found is not None) is is_refused


def test_an_edit_that_replaces_all_counts_each_place():
    rule = {"type": "max_file_lines", "max_lines": 5}
    known = KnownFilesystem(**{"a.ts": "x\nx\nx\n"})
    assert refused(edit("a.ts", "x", "x\ny"), rule, world=known)[0] == "max_file_lines"


def test_an_edit_of_a_file_that_nobody_knows_answers_for_its_own_lines():
    rule = {"type": "max_file_lines", "max_lines": 2}
    assert refused(edit("a.ts", "x", "1\n2"), rule) is None
    assert refused(edit("a.ts", "x", "1\n2\n3"), rule)


def test_a_whole_manifest_is_held_against_what_it_held():
    known = KnownFilesystem(**{"requirements.txt": "django==5.2\n"})
    assert refused(write("requirements.txt", "django==5.2\nflask\n"), NO_NEW, world=known)[1].startswith(
        "Constraint Violation: [requirements.txt] would add the dependency flask"
    )
    assert refused(write("requirements.txt", "django==5.2.1\n"), NO_NEW, world=known) is None
    assert "change it with an edit" in refused(write("requirements.txt", "django\n"), NO_NEW)[1]


def test_too_many_files_counts_the_session_and_this_call():
    rule = {"type": "max_files_changed", "max_files": 2, "scope": "src/**"}
    assert (
        refused(write("src/c.ts"), rule, world=KnownFilesystem(["src/a.ts", "src/b.ts"]))[0]
        == "max_files_changed"
    )
    assert refused(write("src/a.ts"), rule, world=KnownFilesystem(["src/a.ts", "src/b.ts"])) is None
    assert refused(write("src/c.ts"), rule, world=KnownFilesystem(["src/a.ts", "docs/b.md"])) is None
    everywhere = {"type": "max_files_changed", "max_files": 0}
    assert refused(write("src/c.ts"), everywhere)


def test_a_change_here_needs_a_change_there():
    rule = {"type": "require_file", "scope": "src/**", "file": "tests/**"}
    assert "may change only together with [tests/**]" in refused(write("src/a.ts"), rule)[1]
    assert refused(write("src/a.ts"), rule, world=KnownFilesystem(["tests/a.py"])) is None
    assert refused(write("docs/a.md"), rule) is None
    both = "*** Update File: src/a.ts\n@@\n+x\n*** Update File: tests/a.py\n@@\n+y\n"
    assert refused(call("apply_patch", {"patch": both}), rule) is None


@pytest.mark.parametrize(
    ("path", "line", "rule", "bad"),
    [
        ("package.json", '"bcrypt": "^4.9.1",', {"min_version": "5.0.0"}, True),
        ("package.json", '"bcrypt": "^5",', {"min_version": "5.0.0"}, False),
        ("package.json", '"bcrypt": "*",', {"min_version": "5.0.0"}, False),
        ("requirements.txt", "bcrypt==5.2.1\n", {"version": "5.2"}, False),
        ("requirements/dev.txt", "Bcrypt==5.20 # pinned\n", {"version": "5.2"}, True),
        ("pyproject.toml", '    "bcrypt>=4.0",\n', {"min_version": "5"}, True),
        ("Cargo.toml", 'bcrypt = { version = "0.14", features = [] }', {"version": "0.15"}, True),
        ("go.mod", "require bcrypt.org/x v1.2.0", {"version": "1.2"}, False),
        ("src/a.ts", '"bcrypt": "1"', {"version": "2"}, False),
        ("package.json", '"other": "1"', {"version": "2"}, False),
    ],
)
def test_a_library_in_another_version(path, line, rule, bad):
    library = "bcrypt.org/x" if path == "go.mod" else "bcrypt"
    edit = call("Edit", {"file_path": path, "old_string": "", "new_string": line})
    assert bool(refused(edit, {"type": "library_version", "library": library, **rule})) is bad


def test_the_wanted_version_is_told():
    rule = {"type": "library_version", "library": "django", "min_version": "5.2"}
    text = refused(write("requirements.txt", "Django==4.2\n"), rule)[1]
    assert "requires another version of django than the intent allows: at least 5.2" in text


NO_NEW = {"type": "no_new_dependency"}


@pytest.mark.parametrize(
    ("path", "old", "new", "bad"),
    [
        ("package.json", '"a": "1"', '"a": "2"', False),
        ("package.json", '"a": "1"', '"a": "1",\n"left-pad": "^1.0.0"', True),
        ("package.json", '"x"', '"test": "jest --ci"', False),
        ("composer.json", "", '"a/b": "~2.0"', True),
        ("pyproject.toml", "", '  "requests>=2",', True),
        ("pyproject.toml", "", 'requests = "^2"', True),
        ("setup.py", "", "install_requires=['requests']", True),
        ("setup.cfg", "", "requests>=1\n", True),
        ("requirements-dev.in", "", "requests\n", True),
        ("Pipfile", "", 'requests = "*"', True),
        ("go.mod", "", "\tgithub.com/a/b v1.2.3", True),
        ("Gemfile", "", "gem 'rails', '~> 7'", True),
        ("pom.xml", "", "<artifactId>junit</artifactId>\n<version>4</version>", True),
        ("app/App.csproj", "", '<PackageReference Include="X" Version="1" />', True),
        ("build.gradle", "", "implementation 'a.b:c:1.0'", True),
        ("build.gradle.kts", "", 'implementation("a.b:c")', True),
        ("src/a.ts", "", "import x", False),
    ],
)
def test_a_new_dependency(path, old, new, bad):
    edit = call("Edit", {"file_path": path, "old_string": old, "new_string": new})
    assert bool(refused(edit, NO_NEW)) is bad


def test_a_dependency_file_is_not_rewritten_as_a_whole():
    assert "change it with an edit" in refused(write("package.json", "{}"), NO_NEW)[1]
    assert (
        "change it with an edit"
        in refused(call("move_file", {"source": "a", "destination": "go.mod"}), NO_NEW)[1]
    )
    assert refused(call("delete_file", {"path": "package.json"}), NO_NEW) is None


def test_a_constraint_violation_is_a_refusal_unless_policy_lets_a_person_waive_it():
    rule = {"type": "max_files_changed", "max_files": 0}
    assert said(judge(write("a.ts"), under(rule))) == ("deny", "CONSTRAINT_VIOLATION", "max_files_changed")
    lenient = Policy(approvable=frozenset({ErrorType.CONSTRAINT_VIOLATION}))
    assert said(judge(write("a.ts"), under(rule, policy=lenient)))[0] == "ask"


@pytest.mark.parametrize(
    ("rule", "field"),
    [
        ({"type": "forbid_pattern"}, "pattern"),
        ({"type": "forbid_pattern", "pattern": ""}, "pattern"),
        ({"type": "forbid_pattern", "pattern": "("}, "pattern"),
        ({"type": "forbid_pattern", "pattern": "x" * 1001}, "pattern"),
        ({"type": "forbid_pattern", "pattern": "x", "scope": "src/"}, "scope"),
        ({"type": "forbid_pattern", "pattern": "x", "scope": []}, "scope"),
        ({"type": "forbid_pattern", "pattern": "x", "scope": [5]}, "scope"),
        ({"type": "max_file_lines", "max_lines": "9"}, "max_lines"),
        ({"type": "max_file_lines", "max_lines": True}, "max_lines"),
        ({"type": "max_files_changed", "max_files": -1}, "max_files"),
        ({"type": "require_file"}, "needs"),
        ({"type": "require_file", "when": "a/", "needs": "b"}, "when"),
        ({"type": "require_file", "needs": "b", "file": "c"}, "file"),
        ({"type": "max_file_lines", "value": 400}, "max_lines"),
        ({"type": "max_file_lines", "max_lines": 4, "files": "src/"}, "files"),
        ({"type": "max_file_lines", "max_lines": 4, "files": "a", "scope": "b"}, "scope"),
        ({"type": "file_size", "scope": "src/**"}, "max_lines"),
        ({"type": "code_pattern"}, "pattern"),
        ({"type": "code_pattern", "pattern": "eval("}, "pattern"),
        ({"type": "require_file", "file": "/x"}, "file"),
        ({"type": "library_version", "version": "1"}, "library"),
        ({"type": "library_version", "library": "x"}, "version"),
        ({"type": "library_version", "library": "x", "version": "1", "min_version": "1"}, "version"),
        ({"type": "library_version", "library": "x", "version": "new"}, "version"),
        ({"type": "library_version", "library": "x", "version": 5}, "version"),
    ],
)
def test_a_constraint_that_cannot_be_read_says_which_field_and_refuses(rule, field):
    assert constraints.find_problem(rule).startswith(f"`{field}`")
    reason, text = refused(write("a.ts"), rule)
    assert reason == rule["type"]
    assert "cannot be checked" in text
    assert field in text


def test_good_constraints_have_no_problem():
    for rule in (NO_LOG, NO_NEW, {"type": "require_file", "file": ["a/**", "b.md"]}):
        assert constraints.find_problem(rule) is None


def test_an_expensive_expression_is_no_danger():
    rule = {"type": "forbid_pattern", "pattern": "(a|aa)+$"}
    assert refused(write("a.ts", "a" * 20_000 + "b"), rule) is None


def test_a_type_that_is_no_text_is_guidance():
    assert not constraints.is_structured({"type": ["forbid_pattern"]})


def test_nothing_written_breaks_nothing():
    assert (
        list(constraints.find_violations([NO_NEW, {"type": "forbid_pattern"}], [], KnownFilesystem())) == []
    )
    unknown = FileChange("package.json", "write", "", None, False)
    assert list(constraints.find_violations([NO_LOG], [unknown], KnownFilesystem())) == []


def test_versions_are_compared_as_numbers():
    rule = {"library": "x", "min_version": "1.10"}
    assert dependencies.has_wrong_version(rule, "requirements.txt", "x==1.9")
    assert not dependencies.has_wrong_version(rule, "requirements.txt", "x==1.10.0")


@pytest.mark.parametrize(
    ("constraint", "reason"),
    [
        ("No eval.", None),
        (NO_LOG, None),
        (
            {"type": "code_pattern", "pattern": "no console calls here"},
            "is a sentence, no regular expression",
        ),
        ({"type": "be_nice"}, "The constraint type 'be_nice' is unknown"),
        ({"type": 7}, "The constraint type 7 is unknown"),
    ],
)
def test_a_constraint_that_the_gate_does_not_check_says_why(constraint, reason):
    told = constraints.find_reason_unchecked(constraint)
    assert told is None if reason is None else reason in told
