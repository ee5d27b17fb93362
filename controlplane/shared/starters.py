"""Recommended settings for a new workspace by kind of project: ignored files, protected paths, safe commands.

A new workspace gets the secrets; the rest is set when somebody applies it. Safe commands are complete:
`pytest *` would allow options that write anywhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from controlplane.policy.model import DEFAULT_PROTECTED_PATHS

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

# Secrets, in .gitignore syntax: neither read nor written. Examples without secrets stay readable.
SECRETS = (
    "# Secrets: agents neither read nor change them.",
    ".env*",
    "!.env.example",
    "!.env.sample",
    "!.env.template",
    "*.pem",
    "*.key",
    "*.p12",
    "*.pfx",
    "*.jks",
    "*.keystore",
    "id_rsa",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
    ".netrc",
    ".pgpass",
    "credentials.json",
    "service-account*.json",
    "*.tfstate",
    "*.tfstate.*",
)

# Files that CI runs with its own permissions: readable, changed only by an intent that names them.
PIPELINES = (
    ".github/workflows/**",
    ".github/actions/**",
    ".gitlab-ci.yml",
    ".circleci/**",
    "azure-pipelines.yml",
    "Jenkinsfile",
    ".buildkite/**",
    ".pre-commit-config.yaml",
    "**/CODEOWNERS",
)


@dataclass(frozen=True, slots=True)
class Starter:
    """Recommendations for one kind of project, recognised by `marker_files` at the top of a repository."""

    kind: str
    label: str
    marker_files: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()
    protected_paths: tuple[str, ...] = ()
    safe_commands: tuple[str, ...] = ()

    @property
    def intentignore(self) -> str:
        """The recommended text of `.intentignore`."""
        return "\n".join((*SECRETS, *self.secrets)) + "\n"

    @property
    def policy(self) -> dict[str, Any]:
        """The policy keys that the starter sets in a new workspace."""
        return {
            "protected_paths": [*DEFAULT_PROTECTED_PATHS, *self.all_protected_paths],
            "safe_commands": list(self.safe_commands),
        }

    @property
    def all_protected_paths(self) -> tuple[str, ...]:
        """Paths to protect in addition to the product's defaults."""
        return (*PIPELINES, *self.protected_paths)


# Most specific first: a repository with several marker files is of the first kind that matches.
_ALL = (
    Starter(
        "rust",
        "Rust",
        marker_files=("Cargo.toml",),
        secrets=(".cargo/credentials", ".cargo/credentials.toml"),
        protected_paths=("**/Cargo.lock",),
        safe_commands=(
            "cargo test",
            "cargo check",
            "cargo clippy",
            "cargo fmt --check",
            "cargo tree",
            "cargo --version",
            "rustc --version",
        ),
    ),
    Starter(
        "go",
        "Go",
        marker_files=("go.mod", "go.work"),
        protected_paths=("**/go.sum",),
        safe_commands=("go test ./...", "go vet ./...", "go list ./...", "go version"),
    ),
    Starter(
        "java",
        "Java or Kotlin",
        marker_files=(
            "pom.xml",
            "build.gradle",
            "build.gradle.kts",
            "settings.gradle",
            "settings.gradle.kts",
        ),
        secrets=("keystore.properties",),
        protected_paths=(
            "gradle/wrapper/**",
            "gradlew",
            "gradlew.bat",
            ".mvn/wrapper/**",
            "mvnw",
            "mvnw.cmd",
            "**/gradle.lockfile",
        ),
        safe_commands=("mvn test", "mvn verify", "./mvnw test", "gradle test", "./gradlew test"),
    ),
    Starter(
        "node",
        "JavaScript or TypeScript",
        marker_files=("package.json",),
        secrets=(".npmrc",),
        protected_paths=(
            "**/package-lock.json",
            "**/npm-shrinkwrap.json",
            "**/yarn.lock",
            "**/pnpm-lock.yaml",
            "**/bun.lock",
            "**/bun.lockb",
        ),
        safe_commands=("npm test", "npm run test", "npm run typecheck", "yarn test", "pnpm test"),
    ),
    Starter(
        "python",
        "Python",
        marker_files=("pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "Pipfile", "manage.py"),
        secrets=(".pypirc",),
        protected_paths=("**/poetry.lock", "**/uv.lock", "**/Pipfile.lock", "**/pdm.lock"),
        safe_commands=("pytest", "pytest -q", "pytest -x", "python -m pytest", "ruff check", "mypy ."),
    ),
    Starter("generic", "Anything else"),
)

STARTERS: Mapping[str, Starter] = {starter.kind: starter for starter in _ALL}


def detect_starter(root: Path) -> Starter:
    """Return the starter for a local repository by the files at its top, else the generic one."""
    try:
        names = {entry.name for entry in root.iterdir()}
    except OSError:
        names = set()
    matches = (starter for starter in _ALL if names.intersection(starter.marker_files))
    return next(matches, STARTERS["generic"])
