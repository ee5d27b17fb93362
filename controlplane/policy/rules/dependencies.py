"""Which libraries, in which versions, a text of a dependency file asks for.

A whole file is parsed where its format allows it (`manifests`). Of an edit only lines are at hand: they are
read one by one, well enough to miss none, so that now and then a line of another sense is taken for one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

import re2

from controlplane.policy.calls.edit_result import normalize_newlines
from controlplane.policy.rules import dependency_files


def _linear(*patterns: str) -> tuple[Any, ...]:
    """Compiled by RE2, whose time is bounded for any text; `^` and `$` hold for every line."""
    return tuple(re2.compile(f"(?m){pattern}") for pattern in patterns)


_NAME = r"(?P<name>[@A-Za-z0-9][\w.@/\-]*)"
_WORD = r"(?P<name>[A-Za-z0-9][\w.\-]*)"
_TAG = r"dev-[^\"]*|latest|next|alpha|beta|rc|canary|nightly|dev|experimental|stable"
_JSON = _linear(
    rf'"{_NAME}"\s*:\s*"(?P<version>[\^~<>=v\s]*\d[^"]*|\s*|[*xX]|{_TAG}|[a-z+]+:[^"]*|[\w.\-]+/[\w.\-]+(?:#[^"]*)?)"'
)
_KEY = rf"""^[ \t]*["']?{_NAME}["']?[ \t]*=[ \t]*"""
_TOML = _linear(
    rf"""{_KEY}["'](?P<version>[\^~<>=!\s]*[\d*][^"'\n]*)["']""",
    rf"""{_KEY}\[?[ \t]*\{{[^\n]*?\bversion[ \t]*=[ \t]*["'](?P<version>[^"'\n]*)["']""",
    rf"{_KEY}\[?[ \t]*\{{(?P<version>)[^\n]*?\b(?:git|path|url|workspace|registry|file|module|id|group)"
    r"[ \t]*[=.]",
    rf"""^[ \t]*\[{{1,2}}(?:[^\]\n]*[.\-])?dependencies\.["']?{_WORD}["']?(?P<version>)\]""",
    r"""^[ \t]*["']?(?P<name>[A-Za-z0-9][\w\-]*)["']?\.(?:version|workspace|git|path)"""
    r"""[ \t]*=[ \t]*["']?(?P<version>[^"'\n]*)""",
)
_QUOTED = _linear(
    *(
        rf"""{q}{_WORD}(?:\[[^\]\n]*\])?\s*(?P<version>[<>=!~@;(][^{q}\n]*)?{q}\s*(?:,|\]|\)|#|$)"""
        for q in "\"'"
    )
)
_LINE = _linear(
    rf"^[ \t]*{_WORD}[ \t]*(?:\[[^\]\n]*\])?[ \t]*(?P<version>[<>=!~@(][^;#\n]*)?"
    r"(?:[ \t]+--[^\n]*|[ \t]*\\)?[ \t]*(?:[;#].*)?$",
    r"^[ \t]*(?:(?:-e|--editable)[ =]*)?(?P<name>(?:[a-z][a-z0-9+]*:|\.{0,2}/)[^\s;]+)(?P<version>)",
    r"^[ \t]*(?P<name>(?:-r|--requirement)[ =]*\S+)(?P<version>)",
)
_GO = _linear(
    r"""^[ \t]*(?:require[ \t]+)?["`]?(?P<name>[\w.\-]+\.[\w.\-/~]+)["`]?[ \t]+(?P<version>v\d\S*)""",
    r"""=>[ \t]*["`]?(?P<name>[^\s"`]+)["`]?(?:[ \t]+(?P<version>v\d\S*))?""",
)
_GEM = _linear(
    r"""\b(?:gem|add_(?:runtime_|development_)?dependency)[ \t(]+["'](?P<name>[\w.\-]+)["']"""
    r"""(?:\s*,\s*["'](?P<version>[^"']*)["'])?"""
)
_MAVEN = _linear(
    r"<artifactId>\s*(?P<name>[^<\s]+)\s*</artifactId>(?:\s*<version>(?P<version>[^<]*)</version>)?"
)
_INCLUDE = r"""(?:Include|id)\s*=\s*["'](?P<name>[^"']+)["']"""
_NUGET = _linear(
    rf"""(?i)<(?:Package\w*|Reference|DotNetCliToolReference)\b[^>]*?\b{_INCLUDE}(?:[^>]*?\bVersion\s*=\s*["'](?P<version>[^"']*)["'])?""",
    rf"""(?i)<Package\w*\b[^>]*?\bVersion\s*=\s*["'](?P<version>[^"']*)["'][^>]*?\b{_INCLUDE}""",
)
_GRADLE = _linear(
    r"""["'](?P<name>[\w.\-]+:[\w.\-]+)(?::(?P<version>[^"']+))?["']""",
    r"""\bname\s*[:=]\s*["'](?P<name>[\w.\-]+)["'](?:\s*,\s*version\s*[:=]\s*["'](?P<version>[^"']*)["'])?""",
    r"""\b(?P<name>libs\.[\w.]+)(?P<version>)""",
)
_CONDA = _linear(
    rf"""^[ \t]*-[ \t]+["']?(?:[\w\-]+::)?{_WORD}(?:\[[^\]\n]*\])?"""
    r"""[ \t]*(?P<version>[<>=!~@][^#\n"']*)?["']?[ \t]*(?:#.*)?$"""
)

# Keys that name no library, though a line of theirs may look like one. There are libraries of some of these
# names: with a version behind it, a line of a text key is one of them.
_KEYED = (".json", ".jsonc", ".toml", ".cfg", "pipfile")  # ends of files that have other keys besides
_VERSION_KEYS = frozenset(
    {
        "version", "edition", "rust-version", "requires-python", "target-version", "packagemanager",
        "stability", "minimum-stability", "$schema",
    }
)  # fmt: skip
_TEXT_KEYS = frozenset(
    {
        "name", "description", "main", "module", "browser", "types", "typings", "license", "author",
        "homepage", "repository", "type", "url", "email", "readme",
    }
)  # fmt: skip
_RANGE = re.compile(r"[\^~<>=v\s]*\d")

# How a file lists dependencies, by the end of its name.
_FORMS: Mapping[str, tuple[Any, ...]] = {
    "package.json": _JSON,
    "composer.json": _JSON,
    "deno.json": _JSON,
    "deno.jsonc": _JSON,
    "import_map.json": _JSON,
    "pyproject.toml": _TOML + _QUOTED,
    "cargo.toml": _TOML,
    "pipfile": _TOML,
    "libs.versions.toml": _TOML,
    "setup.py": _QUOTED,
    "setup.cfg": _LINE,
    "go.mod": _GO,
    "gemfile": _GEM,
    "gems.rb": _GEM,
    ".gemspec": _GEM,
    "pom.xml": _MAVEN,
    ".csproj": _NUGET,
    ".fsproj": _NUGET,
    ".vbproj": _NUGET,
    "directory.packages.props": _NUGET,
    "packages.config": _NUGET,
    "build.gradle": _GRADLE,
    "build.gradle.kts": _GRADLE,
}
_REQUIREMENTS = re.compile(
    r"(?:^|/)[^/]*requirements[^/]*\.(?:txt|in)$|(?:^|/)requirements/[^/]+\.(?:txt|in)$"
)
_ENVIRONMENT = re.compile(r"(?:^|/)(?:[^/]*environment[^/]*|conda[^/]*)\.ya?ml$")
_VERSION = re.compile(r"\d+(?:\.\d+)*", re.ASCII)


def is_manifest(path: str) -> bool:
    return bool(_forms(path))


def _forms(path: str) -> tuple[Any, ...]:
    """Without regard to case: where a disk has none, `Package.json` is what npm reads."""
    folded = path.casefold()
    if _REQUIREMENTS.search(folded):
        return _LINE
    if _ENVIRONMENT.search(folded):
        return _CONDA
    name = folded.rpartition("/")[2]
    return next(
        (forms for end, forms in _FORMS.items() if name == end or (end[0] == "." and name.endswith(end))), ()
    )


def list_libraries(path: str, text: str, *, whole: bool = False) -> Mapping[str, set[str]]:
    """The libraries that a text of a dependency file names, in lower case, each with the versions that it is
    asked for in, "" where a line has none."""
    folded = path.casefold()
    name = folded.rpartition("/")[2]
    return _asked(
        _forms(path),
        name if whole and name in dependency_files.PARSERS else None,
        folded.endswith(_KEYED),
        normalize_newlines(text),
    )


@lru_cache(maxsize=4)  # several constraints ask for one text, and a call may bring one to many files
def _asked(forms: tuple[Any, ...], name: str | None, keyed: bool, text: str) -> Mapping[str, set[str]]:
    """`name` of a whole file that can be parsed; `keyed` where it has other keys besides its libraries."""
    parsed = dependency_files.parse_libraries(name, text) if name else None
    found: dict[str, set[str]] = {}
    for library, version in _in_lines(forms, keyed, text) if parsed is None else parsed:
        found.setdefault(_same(library), set()).add(version.partition(";")[0])
    return found


def _in_lines(forms: tuple[Any, ...], keyed: bool, text: str) -> Iterator[dependency_files.Library]:
    encoded = text.encode("utf-8", "replace")  # bytes, so that RE2 need not count characters
    for form in forms:
        for match in form.finditer(encoded):
            name, version = ((match[group] or b"").decode() for group in ("name", "version"))
            if not (keyed and _is_other_key(name.lower(), version)):
                yield name, version


def _is_other_key(name: str, version: str) -> bool:
    return name in _VERSION_KEYS or (name in _TEXT_KEYS and not _RANGE.match(version))


def _same(name: str) -> str:
    """One name for its spellings: Python takes `My_Lib` for `my-lib`."""
    return name.lower().replace("_", "-")


def find_new_libraries(path: str, before: str, after: str, *, whole: bool = False) -> set[str]:
    """What a text names that the one before did not. `whole` says that both are whole files."""
    name = path.casefold().rpartition("/")[2]
    parsed = whole and all(
        dependency_files.parse_libraries(name, normalize_newlines(text)) is not None
        for text in (before, after)
    )
    return (
        list_libraries(path, after, whole=parsed).keys() - list_libraries(path, before, whole=parsed).keys()
    )


def is_version(value: Any) -> bool:
    return isinstance(value, str) and bool(_VERSION.fullmatch(value))


def list_versions(rule: Mapping[str, Any], path: str, text: str) -> set[str]:
    """The versions in which a whole file asks for `rule["library"]`."""
    return list_libraries(path, text, whole=True).get(_same(rule["library"]), set())


def has_wrong_version(rule: Mapping[str, Any], path: str, text: str, *, whole: bool = False) -> bool:
    """Whether a text asks for `rule["library"]` in a version that `version` or `min_version` forbids.
    A line without a number says nothing."""
    wanted = list_libraries(path, text, whole=whole).get(_same(rule["library"]), set())
    found = (match[0] for version in wanted if (match := _VERSION.search(version)))
    if "version" in rule:
        return not all(f"{each}.".startswith(f"{rule['version']}.") for each in found)
    return any(_numbers(each) < _numbers(rule["min_version"]) for each in found)


def _numbers(version: str) -> tuple[tuple[int, str], ...]:
    """A version as what can be compared: of each part its length and digits, because Python makes no
    number of thousands of them. `5.0` and `5` are one version."""
    parts = [part.lstrip("0") for part in version.split(".")]
    while parts and not parts[-1]:
        parts.pop()
    return tuple((len(part), part) for part in parts)
