"""What a dependency file asks for: read as a whole where its format is known, line by line where it is not."""

from __future__ import annotations

import pytest

from controlplane.policy.model import ErrorType
from controlplane.policy.paths.filesystem import UnknownFilesystem
from controlplane.policy.rules import dependency_files
from controlplane.policy.rules.dependencies import find_new_libraries, list_libraries
from tests.policy.builders import call, intent, judge, snapshot

NEW = [
    ("package.json", '{"dependencies":{', '"x":"beta"}}', "x"),
    ("package.json", '{"peerDependencies":{', '"x":""}}', "x"),
    ("package.json", '{"optionalDependencies":{', '"@a/x":"user/repo#v1"}}', "@a/x"),
    ("composer.json", '{"require":{', '"a/x":"dev-main"}}', "a/x"),
    ("deno.json", '{"imports":{', '"x":"jsr:@std/x"}}', "x"),
    ("requirements.txt", "flask\r\n", "x\r\n", "x"),
    ("requirements.txt", "", "\ufeffx", "x"),
    ("dev-requirements.txt", "", "x @ https://a/x.whl", "x"),
    ("requirements/base.in", "", "x (>=1)", "x"),
    ("requirements-dev.txt", "", "x[a, b] >=1 ; python_version < '3'  # why", "x"),
    ("requirements.txt", "", "x==1 --hash=sha256:0", "x"),
    ("requirements.txt", "", "-e git+https://a/x#egg=x", "git+https://a/x#egg=x"),
    ("requirements.txt", "", "./x.whl", "./x.whl"),
    ("requirements.txt", "", "-r more.txt", "-r more.txt"),
    ("pyproject.toml", "[project]\ndependencies = [", '"x @ https://a"]', "x"),
    ("pyproject.toml", "[project]\ndependencies = [\n", "\"x; python_version<'3'\"\n]", "x"),
    ("pyproject.toml", "[project.optional-dependencies]\n", "t = ['x[a]']", "x"),
    ("pyproject.toml", "[dependency-groups]\n", 't = ["x"]', "x"),
    ("pyproject.toml", "[tool.poetry.dependencies]\n", "x = '1'", "x"),
    ("pyproject.toml", "[tool.poetry.dependencies]\n", 'x = [{version = "1"}, {version = "2"}]', "x"),
    ("pyproject.toml", "[tool.poetry.group.dev.dependencies]\n", 'x = {git = "https://a"}', "x"),
    ("Pipfile", "[packages]\n", 'x = "*"', "x"),
    ("Cargo.toml", "", '[dependencies.x]\nversion = "1"', "x"),
    ("Cargo.toml", "", "[target.'cfg(unix)'.dev-dependencies.x]\npath = \"a\"", "x"),
    ("Cargo.toml", "[dependencies]\n", "x = { workspace = true }", "x"),
    ("Cargo.toml", "[dependencies]\n", "x.workspace = true", "x"),
    ("gradle/libs.versions.toml", "[libraries]\n", 'x = { module = "a:x", version.ref = "x" }', "x"),
    ("go.mod", "", 'require "example.com/x" v1.0.0', "example.com/x"),
    ("go.mod", "", "replace example.com/a => example.com/x v1.0.0", "example.com/x"),
    ("Gemfile", "", 'group(:a) { gem("x") }', "x"),
    ("a.gemspec", "", 's.add_dependency "x", "~> 1"', "x"),
    ("pom.xml", "", "<artifactId> x </artifactId>", "x"),
    ("build.gradle", "", "implementation group: 'a', name: 'x', version: '1'", "x"),
    ("build.gradle.kts", "", "implementation(libs.x.core)", "libs.x.core"),
    ("a.csproj", "", '<PackageReference Version="1" Include="x" />', "x"),
    ("Directory.Packages.props", "", "<PackageVersion Include='x' Version='1' />", "x"),
    ("packages.config", "", '<package id="x" version="1" />', "x"),
    ("environment.yml", "dependencies:\n", "  - conda-forge::x=1.2  # why", "x"),
    ("environment.yml", "dependencies:\n  - pip:\n", "    - x==1", "x"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("path", "line", "names"),
    [
        ("package.json", '"url": "^0.11.4",', {"url"}),
        ("package.json", '"url": "git+https://a/x", "main": "dist/index.js", "type": "module"', set()),
        ("package.json", '"version": "1.2.3", "packageManager": "x@1"', set()),
        ("Cargo.toml", 'url = "2"', {"url"}),
        ("Cargo.toml", 'edition = "2021"\nname = "x"', set()),
        ("requirements.txt", "name==1\nversion", {"name", "version"}),
        ("Gemfile", 'gem "url"', {"url"}),
        ("setup.cfg", "name = x\nversion = 1", set()),
    ],
)
def test_a_library_may_have_the_name_of_another_key(path, line, names):
    assert find_new_libraries(path, "", line) == names


def test_a_parsed_file_tells_libraries_from_keys():
    text = '{"url": "https://a", "dependencies": {"url": "*", "main": "latest"}}'
    assert find_new_libraries("package.json", "{}", text, is_full_text=True) == {"url", "main"}


@pytest.mark.parametrize(("path", "before", "line", "name"), NEW)
def test_a_new_library_is_seen_in_a_line_and_in_the_whole_file(path, before, line, name):
    assert find_new_libraries(path, "", line) >= {name}
    assert find_new_libraries(path, before, before + line, is_full_text=True) == {name}


OLD = [
    ("package.json", '{"dependencies":{"x":"1"}}', '{"version":"2","scripts":{"a":"b/c"},"dependencies":{"x":"next"}}'),
    ("pyproject.toml", "[project]\ndependencies=['my_x']", "[project]\nversion='2'\ndependencies=['My-X>2']\n[tool.ruff]\na=['b']"),
    ("Cargo.toml", "[dependencies]\nx='1'", "[package]\nversion='2'\n[dependencies]\nx={version='2'}"),
    ("requirements.txt", "x", "# y\nX==2\n"),
    ("a.txt", "", "x"),
]  # fmt: skip


@pytest.mark.parametrize(("path", "before", "after"), OLD)
def test_another_version_or_key_is_no_new_library(path, before, after):
    assert find_new_libraries(path, before, after, is_full_text=True) == set()


def test_a_file_that_is_broken_is_compared_line_by_line():
    assert find_new_libraries("package.json", '{"a": "1"', '{"a": "1", "x": "1"}', is_full_text=True) == {"x"}
    assert find_new_libraries("package.json", "{}", '{"x": "1",', is_full_text=True) == {"x"}
    assert dependency_files.parse_libraries("package.json", "[" * 100_000) is None
    assert dependency_files.parse_libraries("package.json", "[]") is None
    assert (
        dependency_files.parse_libraries("package.json", '{"dependencies": 5, "a": {"requires": ["!", 5]}}')
        == []
    )


def test_every_version_that_a_library_is_asked_for_in_is_told():
    text = '{"dependencies": {"x": "18"}, "devDependencies": {"x": "17", "y": {"version": 5}}}'
    assert list_libraries("package.json", text, is_full_text=True) == {
        "x": {"18", "17"},
        "y": {""},
    } or list_libraries("package.json", text)["x"] == {"17", "18"}
    assert list_libraries("requirements.txt", "x==1; python_version < '3'") == {"x": {"==1"}}
    assert list_libraries(
        "pyproject.toml", "[tool.poetry.dependencies]\nx=[{version='1'},{version='2'}]", is_full_text=True
    )


class Known(UnknownFilesystem):
    def __init__(self, path, text):
        self.path, self.known = path, text

    def read_text(self, path):
        return self.known if path == self.path else None


def reason(data, rule, world):
    decision = judge(call("Edit", data), snapshot(intent=intent("**", constraints=(rule,))), world)
    return decision.error_type is ErrorType.CONSTRAINT_VIOLATION


def test_a_part_of_a_line_is_judged_in_the_file_that_it_stands_in():
    rule = {"type": "library_version", "library": "react", "version": "18"}
    edit = {"file_path": "package.json", "old_string": "18.0", "new_string": "17.0"}
    file = Known("package.json", '{"dependencies": {"react": "^18.0", "old": "1"}}')
    assert reason(edit, rule, file)
    assert not reason({**edit, "new_string": "18.2"}, rule, file)
    renamed = {"file_path": "package.json", "old_string": '"old"', "new_string": '"new"'}
    assert reason(renamed, {"type": "no_new_dependency"}, file)
    wrong_already = Known("package.json", '{"dependencies": {"react": "17", "old": "1"}}')
    assert not reason({**renamed, "new_string": '"old"  '}, rule, wrong_already)
    doubled = {
        "file_path": "package.json",
        "old_string": '"old": "1"',
        "new_string": '"react": "17", "react": "18"',
    }
    assert reason(doubled, rule, UnknownFilesystem())


def test_the_version_of_a_table_is_the_one_in_it():
    text = '[tool.poetry.dependencies]\na = {version = "1"}\nb = [{version = "2"}, {version = "3"}]\n'
    assert dependency_files.parse_libraries("pyproject.toml", text) == [("a", "1"), ("b", "2")]


def test_a_key_of_a_whole_file_is_no_library_whose_version_is_wrong():
    rule = {"type": "library_version", "library": "main", "min_version": "2"}
    state = snapshot(intent=intent("**", constraints=[rule]))
    for text, kind in (('{"main": "1.0"}', None), ('{"dependencies": {"main": "1.0"}}', "library_version")):
        decision = judge(
            call("Write", {"file_path": "package.json", "content": text}), state, UnknownFilesystem()
        )
        assert decision.reason == kind
