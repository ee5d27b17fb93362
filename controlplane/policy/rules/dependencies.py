"""Find the libraries, and their versions, that the text of a dependency file requires.

A full file is parsed where its format allows it (`dependency_files`). Of an edit only lines are known: they
are matched one by one so that none is missed; now and then a line that is no dependency counts as one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

import re2

from controlplane.policy.calls.edit_result import normalize_newlines
from controlplane.policy.rules import dependency_files


def _compile_lines(*patterns: str) -> tuple[Any, ...]:
    """Compile for RE2, whose time is bounded for any text; `^` and `$` match at every line."""
    return tuple(re2.compile(f"(?m){pattern}") for pattern in patterns)


_NAME = r"(?P<name>[@A-Za-z0-9][\w.@/\-]*)"
_WORD = r"(?P<name>[A-Za-z0-9][\w.\-]*)"
_TAG = r"dev-[^\"]*|latest|next|alpha|beta|rc|canary|nightly|dev|experimental|stable"
_JSON = _compile_lines(
    rf'"{_NAME}"\s*:\s*"(?P<version>[\^~<>=v\s]*\d[^"]*|\s*|[*xX]|{_TAG}|[a-z+]+:[^"]*|[\w.\-]+/[\w.\-]+(?:#[^"]*)?)"'
)
_KEY = rf"""^[ \t]*["']?{_NAME}["']?[ \t]*=[ \t]*"""
_TOML = _compile_lines(
    rf"""{_KEY}["'](?P<version>[\^~<>=!\s]*[\d*][^"'\n]*)["']""",
    rf"""{_KEY}\[?[ \t]*\{{[^\n]*?\bversion[ \t]*=[ \t]*["'](?P<version>[^"'\n]*)["']""",
    rf"{_KEY}\[?[ \t]*\{{(?P<version>)[^\n]*?\b(?:git|path|url|workspace|registry|file|module|id|group)"
    r"[ \t]*[=.]",
    rf"""^[ \t]*\[{{1,2}}(?:[^\]\n]*[.\-])?dependencies\.["']?{_WORD}["']?(?P<version>)\]""",
    r"""^[ \t]*["']?(?P<name>[A-Za-z0-9][\w\-]*)["']?\.(?:version|workspace|git|path)"""
    r"""[ \t]*=[ \t]*["']?(?P<version>[^"'\n]*)""",
)
_QUOTED = _compile_lines(
    *(
        rf"""{q}{_WORD}(?:\[[^\]\n]*\])?\s*(?P<version>[<>=!~@;(][^{q}\n]*)?{q}\s*(?:,|\]|\)|#|$)"""
        for q in "\"'"
    )
)
_LINE = _compile_lines(
    rf"^[ \t]*{_WORD}[ \t]*(?:\[[^\]\n]*\])?[ \t]*(?P<version>[<>=!~@(][^;#\n]*)?"
    r"(?:[ \t]+--[^\n]*|[ \t]*\\)?[ \t]*(?:[;#].*)?$",
    r"^[ \t]*(?:(?:-e|--editable)[ =]*)?(?P<name>(?:[a-z][a-z0-9+]*:|\.{0,2}/)[^\s;]+)(?P<version>)",
    r"^[ \t]*(?P<name>(?:-r|--requirement)[ =]*\S+)(?P<version>)",
)
_GO = _compile_lines(
    r"""^[ \t]*(?:require[ \t]+)?["`]?(?P<name>[\w.\-]+\.[\w.\-/~]+)["`]?[ \t]+(?P<version>v\d\S*)""",
    r"""=>[ \t]*["`]?(?P<name>[^\s"`]+)["`]?(?:[ \t]+(?P<version>v\d\S*))?""",
)
_GEM = _compile_lines(
    r"""\b(?:gem|add_(?:runtime_|development_)?dependency)[ \t(]+["'](?P<name>[\w.\-]+)["']"""
    r"""(?:\s*,\s*["'](?P<version>[^"']*)["'])?"""
)
_MAVEN = _compile_lines(
    r"<artifactId>\s*(?P<name>[^<\s]+)\s*</artifactId>(?:\s*<version>(?P<version>[^<]*)</version>)?"
)
_INCLUDE = r"""(?:Include|id)\s*=\s*["'](?P<name>[^"']+)["']"""
_NUGET = _compile_lines(
    rf"""(?i)<(?:Package\w*|Reference|DotNetCliToolReference)\b[^>]*?\b{_INCLUDE}(?:[^>]*?\bVersion\s*=\s*["'](?P<version>[^"']*)["'])?""",
    rf"""(?i)<Package\w*\b[^>]*?\bVersion\s*=\s*["'](?P<version>[^"']*)["'][^>]*?\b{_INCLUDE}""",
)
_GRADLE = _compile_lines(
    r"""["'](?P<name>[\w.\-]+:[\w.\-]+)(?::(?P<version>[^"']+))?["']""",
    r"""\bname\s*[:=]\s*["'](?P<name>[\w.\-]+)["'](?:\s*,\s*version\s*[:=]\s*["'](?P<version>[^"']*)["'])?""",
    r"""\b(?P<name>libs\.[\w.]+)(?P<version>)""",
)
_CONDA = _compile_lines(
    rf"""^[ \t]*-[ \t]+["']?(?:[\w\-]+::)?{_WORD}(?:\[[^\]\n]*\])?"""
    r"""[ \t]*(?P<version>[<>=!~@][^#\n"']*)?["']?[ \t]*(?:#.*)?$"""
)

# Keys that name no library, though their line may look like a dependency. Some are names of libraries too:
# a text key followed by a version is one of those.
_FILES_WITH_OTHER_KEYS = (
    ".json",
    ".jsonc",
    ".toml",
    ".cfg",
    "pipfile",
)  # names, or their ends, of files that have other keys as well
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

# The patterns of a dependency line, by the name of the file or its end.
_PATTERNS: Mapping[str, tuple[Any, ...]] = {
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
    return bool(_find_patterns(path))


def _find_patterns(path: str) -> tuple[Any, ...]:
    """Case does not count: on a disk without it, npm reads `Package.json`."""
    normalized = path.casefold()
    if _REQUIREMENTS.search(normalized):
        return _LINE
    if _ENVIRONMENT.search(normalized):
        return _CONDA
    name = normalized.rpartition("/")[2]
    return next(
        (forms for end, forms in _PATTERNS.items() if name == end or (end[0] == "." and name.endswith(end))),
        (),
    )


def list_libraries(path: str, text: str, *, is_full_text: bool = False) -> Mapping[str, set[str]]:
    """Return the libraries that a dependency file's text names, in lower case, each with its versions; the
    version is "" where a line has none."""
    normalized = path.casefold()
    name = normalized.rpartition("/")[2]
    return _parse_libraries(
        _find_patterns(path),
        name if is_full_text and name in dependency_files.PARSERS else None,
        normalized.endswith(_FILES_WITH_OTHER_KEYS),
        normalize_newlines(text),
    )


@lru_cache(maxsize=4)  # several constraints check one text, and a call may write one to many files
def _parse_libraries(
    patterns: tuple[Any, ...], name: str | None, has_other_keys: bool, text: str
) -> Mapping[str, set[str]]:
    """`name` is that of a full file that can be parsed, else None."""
    parsed = dependency_files.parse_libraries(name, text) if name else None
    libraries: dict[str, set[str]] = {}
    for library, version in _match_lines(patterns, has_other_keys, text) if parsed is None else parsed:
        libraries.setdefault(_normalize_name(library), set()).add(version.partition(";")[0])
    return libraries


def _match_lines(
    patterns: tuple[Any, ...], has_other_keys: bool, text: str
) -> Iterator[dependency_files.Library]:
    encoded = text.encode("utf-8", "replace")  # bytes, so that RE2 need not count characters
    for pattern in patterns:
        for match in pattern.finditer(encoded):
            name, version = ((match[group] or b"").decode() for group in ("name", "version"))
            if not (has_other_keys and _is_other_key(name.lower(), version)):
                yield name, version


def _is_other_key(name: str, version: str) -> bool:
    return name in _VERSION_KEYS or (name in _TEXT_KEYS and not _RANGE.match(version))


def _normalize_name(name: str) -> str:
    """Return one name for all spellings: for pip `My_Lib` is `my-lib`."""
    return name.lower().replace("_", "-")


def find_new_libraries(path: str, before: str, after: str, *, is_full_text: bool = False) -> set[str]:
    """Return the libraries that a text names and the one before did not."""
    name = path.casefold().rpartition("/")[2]
    parsed = is_full_text and all(
        dependency_files.parse_libraries(name, normalize_newlines(text)) is not None
        for text in (before, after)
    )
    return (
        list_libraries(path, after, is_full_text=parsed).keys()
        - list_libraries(path, before, is_full_text=parsed).keys()
    )


def is_version(value: Any) -> bool:
    return isinstance(value, str) and bool(_VERSION.fullmatch(value))


def list_versions(rule: Mapping[str, Any], path: str, text: str) -> set[str]:
    """Return the versions of `rule["library"]` that a full file requires."""
    return list_libraries(path, text, is_full_text=True).get(_normalize_name(rule["library"]), set())


def has_wrong_version(rule: Mapping[str, Any], path: str, text: str, *, is_full_text: bool = False) -> bool:
    """Return whether a text requires `rule["library"]` in a version that `version` or `min_version` forbids.

    A line without a number breaks no rule.
    """
    versions = list_libraries(path, text, is_full_text=is_full_text).get(
        _normalize_name(rule["library"]), set()
    )
    numbers = (match[0] for version in versions if (match := _VERSION.search(version)))
    if "version" in rule:
        return not all(f"{each}.".startswith(f"{rule['version']}.") for each in numbers)
    return any(_to_sort_key(each) < _to_sort_key(rule["min_version"]) for each in numbers)


def _to_sort_key(version: str) -> tuple[tuple[int, str], ...]:
    """Return a version in a form that compares: the length and the digits of each part.

    Not `int`: Python refuses to convert thousands of digits. `5.0` and `5` are one version.
    """
    parts = [part.lstrip("0") for part in version.split(".")]
    while parts and not parts[-1]:
        parts.pop()
    return tuple((len(part), part) for part in parts)
