"""Reading dependency files line by line, well enough to see which library in which version a text asks for.

Only lines that a call writes are at hand, not the whole file, so nothing here parses a format.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import re2


def _linear(pattern: str) -> Any:
    """Compiled by RE2, whose time is bounded for any text; `^` and `$` hold for every line."""
    return re2.compile(f"(?m){pattern}")


_NAME = r"(?P<name>[@A-Za-z0-9][\w.@/\-]*)"
_JSON = _linear(rf'"{_NAME}"\s*:\s*"(?P<version>[\^~<>=v\s]*\d[^"]*|\*|latest|next|[a-z+]+:[^"]*)"')
_TOML = _linear(
    rf'^[ \t]*{_NAME}[ \t]*=[ \t]*(?:\{{[^}}\n]*?version[ \t]*=[ \t]*)?"(?P<version>[\^~<>=\s]*[\d*][^"]*)"'
)
_QUOTED = _linear(
    r"""["'](?P<name>[A-Za-z0-9][\w.\-]*)(?:\[[^\]]*\])?\s*(?P<version>[<>=!~]=?[^"']*)?["']\s*(?:,|\]|$)"""
)
_LINE = _linear(
    r"^[ \t]*(?P<name>[A-Za-z0-9][\w.\-]*)(?:\[[^\]]*\])?[ \t]*(?P<version>[<>=!~]=?[^;#\n]*)?"
    r"[ \t]*(?:[;#].*)?$"
)
_GO = _linear(r"^[ \t]*(?:require[ \t]+)?(?P<name>[\w.\-]+\.[\w.\-/]+)[ \t]+(?P<version>v\d\S*)")
_GEM = _linear(r"""^[ \t]*gem[ \t]+["'](?P<name>[\w.\-]+)["'](?:\s*,\s*["'](?P<version>[^"']*)["'])?""")
_MAVEN = _linear(r"<artifactId>(?P<name>[^<]+)</artifactId>(?:\s*<version>(?P<version>[^<]*)</version>)?")
_NUGET = _linear(r'<PackageReference\s+Include="(?P<name>[^"]+)"(?:\s+Version="(?P<version>[^"]*)")?')
_GRADLE = _linear(r"""["'](?P<name>[\w.\-]+:[\w.\-]+)(?::(?P<version>[^"']+))?["']""")

# How a file lists dependencies, by the end of its name.
_FORMS: Mapping[str, tuple[Any, ...]] = {
    "package.json": (_JSON,),
    "composer.json": (_JSON,),
    "pyproject.toml": (_TOML, _QUOTED),
    "cargo.toml": (_TOML,),
    "pipfile": (_TOML,),
    "setup.py": (_QUOTED,),
    "setup.cfg": (_LINE,),
    "requirements.txt": (_LINE,),
    "requirements.in": (_LINE,),
    "go.mod": (_GO,),
    "gemfile": (_GEM,),
    "pom.xml": (_MAVEN,),
    ".csproj": (_NUGET,),
    "build.gradle": (_GRADLE,),
    "build.gradle.kts": (_GRADLE,),
}
_REQUIREMENTS = re.compile(r"(?:^|/)requirements[^/]*\.(?:txt|in)$|(?:^|/)requirements/[^/]+\.(?:txt|in)$")
_VERSION = re.compile(r"\d+(?:\.\d+)*")


def is_manifest(path: str) -> bool:
    return bool(_forms(path))


def _forms(path: str) -> tuple[Any, ...]:
    """Without regard to case: where a disk has none, `Package.json` is what npm reads."""
    folded = path.casefold()
    if _REQUIREMENTS.search(folded):
        return (_LINE,)
    name = folded.rpartition("/")[2]
    return next(
        (forms for end, forms in _FORMS.items() if name == end or (end[0] == "." and name.endswith(end))), ()
    )


def asked(path: str, text: str) -> dict[str, str]:
    """The libraries that a text of a dependency file names, in lower case, each with the version part
    of its line, "" where there is none."""
    found: dict[str, str] = {}
    for form in _forms(path):
        for match in form.finditer(text):
            found[match["name"].lower()] = match["version"] or ""
    return found


def names(path: str, text: str) -> set[str]:
    return set(asked(path, text))


def is_version(value: Any) -> bool:
    return isinstance(value, str) and bool(_VERSION.fullmatch(value))


def wrong_version(rule: Mapping[str, Any], path: str, text: str) -> bool:
    """Whether a text asks for `rule["library"]` in a version that `version` or `min_version` forbids.
    A line without a number says nothing."""
    found = _VERSION.search(asked(path, text).get(rule["library"].lower(), ""))
    if found is None:
        return False
    if "version" in rule:
        return not f"{found[0]}.".startswith(f"{rule['version']}.")
    return _numbers(found[0]) < _numbers(rule["min_version"])


def _numbers(version: str) -> tuple[int, ...]:
    """`5.0` and `5` are one version."""
    numbers = [int(part) for part in version.split(".")]
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers)
