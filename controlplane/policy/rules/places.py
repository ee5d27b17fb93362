"""Folders outside the workspace that policy opens for reading or as scratch space (policy `places`)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from controlplane.policy.globs import parse as globs
from controlplane.policy.globs.scope import Scope
from controlplane.policy.model import Place
from controlplane.policy.paths.canonical import fold_case

MAX_PLACE_LENGTH = 512
_ACCESS = frozenset({"read", "write"})
# Where systems keep homes: `~` of a pattern stands for each of them, as nobody knows the agent's user.
_HOME = re.compile(r"(?:/(?:home|users)/[^/]+|/root|/?[a-z]:/users/[^/]+|~)(?=/|$)")
_DRIVE = re.compile(r"/?([a-z]):(?=/|$)")
# `/**`, `~/**`, `/*/x`, `/home/**`: complete disks, homes, or the first folder of either by a wildcard.
_TOO_WIDE = re.compile(
    r"(?:home|root|drive-.)/?|(?:home|root|drive-.)/[^/]*[*?\[{].*|root/(?:home|users)/?.*"
)

# Credentials are in no place, whatever a pattern says. Matched in any folder, without case.
CREDENTIALS = (
    ".ssh",
    ".aws",
    ".azure",
    ".gnupg",
    ".kube",
    ".netrc",
    "_netrc",
    ".pgpass",
    ".my.cnf",
    ".npmrc",
    ".pypirc",
    ".git-credentials",
    ".gem/credentials",
    ".cargo/credentials*",
    ".m2/settings*.xml",
    ".gradle/gradle.properties",
    ".docker/config.json",
    ".config/gcloud",
    ".config/gh",
    ".config/glab-cli",
    ".config/git/credentials",
    ".config/op",
    ".config/{google-chrome,chromium,BraveSoftware,microsoft-edge}",
    ".password-store",
    ".local/share/keyrings",
    ".mozilla",
    ".thunderbird",
    ".claude/.credentials.json",
    ".claude.json",
    ".codex/auth.json",
    ".gemini/oauth_creds.json",
    ".local/share/opencode/auth.json",
    ".vault-token",
    ".terraform.d/credentials*",
    "Library/Keychains",
    "Library/Cookies",
    "Library/Messages",
    "Library/Safari",
    "Library/Application Support/{Google,Firefox,BraveSoftware,Microsoft Edge}",
    "AppData/Roaming/{Mozilla,gnupg,GitHub CLI}",
    "AppData/{Local,Roaming}/Microsoft/{Credentials,Protect,Vault}",
    "AppData/Local/{Google,BraveSoftware}",
    "AppData/Local/Microsoft/Edge",
    "id_{rsa,dsa,ecdsa,ed25519}",
    "*.{pem,p12,pfx,key,kdbx,keystore}",
    ".env",
    ".env.*",
)


@dataclass(frozen=True, slots=True)
class PlaceRules:
    """The places of a policy, compiled. Paths come as `to_place_path` returns them."""

    readable: Scope
    writable: Scope

    def permits(self, path: str, *, writing: bool, recursive: bool) -> bool:
        """Return whether a path outside the workspace may be read, or written."""
        normalized = fold_case(path)
        if _is_credential(normalized) or (recursive and _has_credentials_below(normalized)):
            return False
        return (self.writable if writing else self.readable).matches(normalized)


NO_PLACES = PlaceRules(Scope.from_patterns(()), Scope.from_patterns(()))


@lru_cache(maxsize=256)
def compile_places(places: tuple[Place, ...]) -> PlaceRules:
    """Compile places; a scratch place may be read too, and a folder itself may be listed."""
    if not places:
        return NO_PLACES
    readable = [_to_glob(place.pattern) for place in places]
    folders = [pattern.removesuffix("/**") for pattern in readable if pattern.endswith("/**")]
    writable = [_to_glob(place.pattern) for place in places if place.access == "write"]
    return PlaceRules(Scope.from_patterns((*readable, *folders)), Scope.from_patterns(tuple(writable)))


def to_place_path(path: str) -> str:
    """Return the form of an absolute path in which places are compared.

    `/home/a/.cache/x`, `C:/Users/a/.cache/x` and `~/.cache/x` are `home/.cache/x`, `/tmp/x` is `root/tmp/x`,
    `d:/x` is `drive-d/x`.
    """
    home = _HOME.match(fold_case(path))
    if home is not None and len(fold_case(path)) == len(path):
        return "home" + path[home.end() :]
    drive = _DRIVE.match(fold_case(path))
    if drive is not None:
        return f"drive-{drive[1]}{path[drive.end() :]}"
    return f"root/{path.lstrip('/')}"


def find_place_problem(place: Any) -> str | None:
    """Return why a value is no place; None when it is one."""
    if not isinstance(place, dict) or not {"pattern"} <= place.keys() <= {"pattern", "access"}:
        return 'A place must be an object with "pattern" and "access".'
    pattern, access = place["pattern"], place.get("access", "read")
    if not isinstance(access, str) or access not in _ACCESS:
        return f"{access!r} is not read or write."
    if not isinstance(pattern, str) or not pattern.isprintable() or len(pattern) > MAX_PLACE_LENGTH:
        return f"{str(pattern)[:MAX_PLACE_LENGTH]!r} is not a path pattern."
    return _find_pattern_problem(pattern)


def _find_pattern_problem(pattern: str) -> str | None:
    glob = _to_glob(pattern)
    if not (pattern.startswith(("/", "~/")) or _DRIVE.match(pattern.lower().replace("\\", "/"))):
        return f"{pattern!r} must begin with /, ~/ or a drive: a place is outside the workspace."
    if ".." in glob.split("/"):
        return f"{pattern!r} must not hold `..`."
    problem = globs.find_problem(glob)
    if problem is not None:
        return problem.message
    if _TOO_WIDE.fullmatch(glob):
        return f"{pattern!r} would open a complete disk or home."
    if _is_credential(glob.removesuffix("/**")):
        return f"{pattern!r} holds credentials, which are in no place."
    return None


def _to_glob(pattern: str) -> str:
    return fold_case(to_place_path(pattern.replace("\\", "/")))


_CREDENTIAL_SCOPE = Scope.from_patterns(
    tuple(fold_case(f"**/{name}{tail}") for name in CREDENTIALS for tail in ("", "/**"))
)
_CREDENTIAL_PARENTS = frozenset(
    "/".join(("home", *name.split("/")[:count]))
    for name in map(fold_case, CREDENTIALS)
    for count in range(name.count("/") + 1)
    if "{" not in "/".join(name.split("/")[:count])
)


def _is_credential(normalized: str) -> bool:
    return _CREDENTIAL_SCOPE.matches(normalized)


def _has_credentials_below(normalized: str) -> bool:
    return normalized in _CREDENTIAL_PARENTS


def list_recommended(agents: Iterable[str] = ()) -> tuple[Place, ...]:
    """Return the places that a starter opens: temporary folders, caches of dependencies, and the folders for
    plans, skills and memory of these agents (all known ones where none is given)."""
    names = set(agents)
    chosen = [pair for agent, pairs in AGENT_PLACES.items() if not names or agent in names for pair in pairs]
    return tuple(Place(pattern, access) for pattern, access in (*SCRATCH, *CACHES, *chosen))


SCRATCH = tuple(
    (pattern, "write")
    for pattern in (
        "/tmp/**",  # noqa: S108  a pattern, not a file
        "/private/tmp/**",
        "/var/tmp/**",  # noqa: S108
        "/var/folders/*/*/T/**",
        "/private/var/folders/*/*/T/**",
        "~/AppData/Local/Temp/**",
    )
)
CACHES = tuple(
    (pattern, "read")
    for pattern in (
        "~/go/pkg/mod/**",
        "~/.cargo/registry/src/**",
        "~/.cargo/git/checkouts/**",
        "~/.rustup/toolchains/**",
        "~/.m2/repository/**",
        "~/.gradle/caches/**",
        "~/.nuget/packages/**",
        "~/.npm/_logs/**",
        "~/.cache/**",
        "~/Library/Caches/**",
        "~/.pub-cache/**",
        "~/.local/lib/**",
        "~/.local/share/uv/**",
        "~/.local/share/pnpm/**",
        "~/.local/share/mise/installs/**",
        "~/.pyenv/versions/**",
        "~/.nvm/versions/**",
        "~/.bun/install/**",
        "~/.deno/**",
        "~/sdk/**",
        "/usr/lib/**",
        "/usr/local/lib/**",
        "/usr/local/go/**",
        "/usr/share/**",
        "/usr/include/**",
        "/opt/homebrew/**",
    )
)
AGENT_PLACES = {
    "claude-code": (
        ("~/.claude/plans/**", "write"),
        ("~/.claude/projects/*/memory/**", "write"),
        ("~/.claude/todos/**", "write"),
        ("~/.claude/skills/**", "read"),
        ("~/.claude/plugins/**", "read"),
        ("~/.claude/commands/**", "read"),
        ("~/.claude/agents/**", "read"),
        ("~/.claude/projects/**", "read"),
        ("~/.claude/tasks/**", "read"),
        ("~/.claude/CLAUDE.md", "read"),
    ),
    "codex": (
        ("~/.codex/skills/**", "read"),
        ("~/.codex/prompts/**", "read"),
        ("~/.codex/plugins/**", "read"),
        ("~/.codex/AGENTS.md", "read"),
        ("~/.codex/memories/**", "write"),
        ("~/.agents/skills/**", "read"),
    ),
    "gemini-cli": (
        ("~/.gemini/tmp/**", "write"),
        ("~/.gemini/GEMINI.md", "read"),
        ("~/.gemini/extensions/**", "read"),
    ),
    "qwen-code": (("~/.qwen/tmp/**", "write"), ("~/.qwen/QWEN.md", "read")),
    "opencode": (
        ("~/.local/share/opencode/plans/**", "write"),
        ("~/.local/share/opencode/tool-output/**", "read"),
        ("~/.config/opencode/skills/**", "read"),
        ("~/.config/opencode/AGENTS.md", "read"),
    ),
    "copilot": (("~/.copilot/session-state/**", "write"), ("~/.copilot/skills/**", "read")),
    "cursor": (("~/.cursor/plans/**", "write"), ("~/.cursor/skills/**", "read")),
}
