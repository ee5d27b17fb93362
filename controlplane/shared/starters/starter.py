"""What a starter recommends, and what all of them share."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from controlplane.policy.effects import Effect, Permission
from controlplane.policy.model import DEFAULT_PROTECTED_PATHS
from controlplane.policy.rules.places import find_place_problem, list_recommended

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


# Where code is kept, whatever its language: commands may read from there.
FORGES = (
    "github.com",
    "api.github.com",
    "raw.githubusercontent.com",
    "codeload.github.com",
    "objects.githubusercontent.com",
    "gitlab.com",
    "bitbucket.org",
    "codeberg.org",
)
# Running the project's own tests and builds, and recording work in git, asks nobody.
EFFECTS = {
    Effect.RUNS_PROJECT.value: Permission.ALLOW.value,
    Effect.RECORDS.value: Permission.ALLOW.value,
}


def escape(path: str) -> str:
    """Return a pattern that matches this path and nothing else."""
    return re.sub(r"([*?\[\]{}\\!])", r"\\\1", path)


@dataclass(frozen=True, slots=True)
class Starter:
    """Recommendations for one kind of project, recognised by `marker_files` at the top of a repository.

    With `agent` they are for one coding agent in any project: the folders for its plans, skills and memory.
    """

    kind: str
    label: str
    marker_files: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()
    protected_paths: tuple[str, ...] = ()
    safe_commands: tuple[str, ...] = ()
    registries: tuple[str, ...] = ()
    remotes: tuple[str, ...] = ()  # hosts of the repository's own remotes
    work_trees: tuple[str, ...] = ()  # other work trees of the repository, as folders
    agent: str = ""
    only_secrets: bool = False

    @property
    def intentignore(self) -> str:
        """The recommended text of `.intentignore`; none for an agent."""
        return "" if self.agent else "\n".join((*SECRETS, *self.secrets)) + "\n"

    @property
    def effects(self) -> dict[str, str]:
        return {} if self.agent or self.only_secrets else dict(EFFECTS)

    @property
    def hosts(self) -> tuple[str, ...]:
        """Hosts that commands may read from: the repository's remotes, forges, registries."""
        if self.agent or self.only_secrets:
            return ()
        return tuple(dict.fromkeys((*self.remotes, *FORGES, *self.registries)))

    @property
    def places(self) -> list[dict[str, str]]:
        """Folders outside the workspace: scratch space, caches of dependencies, the agents' own folders."""
        if self.only_secrets:
            return []
        recommended = list_recommended((self.agent,) if self.agent else ())
        places = [{"pattern": place.pattern, "access": place.access} for place in recommended]
        trees = [{"pattern": f"{escape(directory)}/**", "access": "read"} for directory in self.work_trees]
        return [*places, *(place for place in trees if find_place_problem(place) is None)]

    @property
    def policy(self) -> dict[str, Any]:
        """The policy keys that a new workspace gets."""
        return {
            "protected_paths": [*DEFAULT_PROTECTED_PATHS, *self.protected_paths],
            "safe_commands": list(self.safe_commands),
            "effects": self.effects,
            "hosts": list(self.hosts),
            "places": self.places,
        }

    @property
    def all_protected_paths(self) -> tuple[str, ...]:
        """Paths to protect in addition to the product's defaults."""
        return (*PIPELINES, *self.protected_paths)
