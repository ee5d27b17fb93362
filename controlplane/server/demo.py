"""Create the example workspace of `make demo`, or find it again.

Its tokens and passwords are stored in the data directory, readable by its owner only, so that a second run
prints the same. Real installations never call this.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import subprocess
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction

from controlplane.models import Membership, Role, Token, TokenRole, Workspace
from controlplane.shared.tokens import create_token, hash_secret
from controlplane.shared.workspaces import create_workspace
from intents.registry_file.import_export import ImportOptions, import_registry
from intents.rules.intentignore import save_intentignore
from intents.rules.policy import change_policy
from sessions.lifecycle.end import end_session
from sessions.models import AgentSession

if TYPE_CHECKING:
    from pathlib import Path

EXAMPLE = settings.BASE_DIR / "demo"
SLUG, NAME, ACTOR = "acme", "Acme shop (demo)", "demo"
PEOPLE = {"ada": Role.ADMIN, "rex": Role.REVIEWER, "ivy": Role.AUDITOR}
INTENTIGNORE = "# What agents may neither read nor write.\n.env*\nsecrets/\n"
# Without MISSING_OR_INVALID_INTENT: an agent without an intent selects one instead of asking a person.
POLICY = {"approvable": ["SCOPE_VIOLATION", "INTENTIGNORE_PATH_BLOCKED", "STALE_FILE", "INTENT_IGNORED"]}
GIT = ("git", "-c", "user.name=Acme", "-c", "user.email=demo@acme.example", "-c", "init.defaultBranch=main")


class DemoConflictError(Exception):
    """An object with a name of the demo exists, and the demo did not create it."""


@dataclass(frozen=True, slots=True)
class DemoCredentials:
    """Secrets of the demo in plain text: passwords by user name, tokens by role."""

    passwords: dict[str, str] = field(default_factory=dict)
    tokens: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SeededDemo:
    workspace: Workspace
    repository: Path
    credentials: DemoCredentials


def seed() -> SeededDemo:
    """Create what is missing. Raise DemoConflictError rather than change what the demo did not create."""
    file = settings.DATA_DIR / "demo.json"
    saved = read_credentials(file)
    repository = create_repository(settings.DATA_DIR / "demo-repo")
    with transaction.atomic():
        workspace = _get_or_create_workspace(repository, saved)
        for username, role in PEOPLE.items():
            _update_or_create_person(workspace, username, role, saved)
        for token_role in TokenRole.values:
            _replace_lost_token(workspace, token_role, saved)
        end_earlier_sessions(workspace)
    write_credentials(file, saved)
    return SeededDemo(workspace, repository, saved)


def read_credentials(file: Path) -> DemoCredentials:
    try:
        return DemoCredentials(**json.loads(file.read_text(encoding="utf-8")))
    except (FileNotFoundError, ValueError, TypeError):
        return DemoCredentials()


def write_credentials(file: Path, saved: DemoCredentials) -> None:
    """Write atomically, and never readable by other users in between."""
    new_file = file.with_suffix(".new")
    # Created with its mode: chmod after writing would leave a moment in which others can read.
    descriptor = os.open(new_file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
        json.dump(asdict(saved), stream, indent=2)
    new_file.replace(file)


def create_repository(repository: Path) -> Path:
    """Create the example repository for the four intents; leave an existing one unchanged."""
    if not (repository / ".git").exists():
        shutil.copytree(EXAMPLE / "repository", repository, dirs_exist_ok=True)
        for command in (["init", "--quiet"], ["add", "."], ["commit", "--quiet", "-m", "Begin"]):
            subprocess.run([*GIT, *command], cwd=repository, check=True)  # noqa: S603  fixed words
    return repository


def end_earlier_sessions(workspace: Workspace) -> None:
    """End sessions of an earlier run, whose intents and pending approvals would block this one."""
    sessions = AgentSession.objects.filter(workspace=workspace, session_id__startswith="demo-")
    for session in sessions.not_ended():
        end_session(session, ACTOR)


def _get_or_create_workspace(repository: Path, saved: DemoCredentials) -> Workspace:
    workspace = Workspace.objects.filter(slug=SLUG).first()
    if workspace is not None:
        if workspace.name != NAME:
            raise DemoConflictError(f"A workspace {SLUG} exists that is not the demo's; nothing was changed.")
        Workspace.objects.filter(pk=workspace.pk).apply_change(local_root=str(repository))
        return workspace
    created = create_workspace(SLUG, name=NAME, local_root=str(repository))
    saved.tokens.update(created.tokens)
    document = (EXAMPLE / "active_intents.yaml").read_bytes()
    import_registry(created.workspace, document, ImportOptions(), actor=ACTOR)
    change_policy(created.workspace, POLICY, actor=ACTOR)
    save_intentignore(created.workspace, INTENTIGNORE, actor=ACTOR)
    return created.workspace


def _update_or_create_person(workspace: Workspace, username: str, role: Role, saved: DemoCredentials) -> None:
    """Create or update a user with the saved password. One of another workspace too is not the demo's."""
    user, _ = User.objects.get_or_create(username=username, defaults={"first_name": username.title()})
    if user.is_staff or user.memberships.exclude(workspace=workspace).exists():
        raise DemoConflictError(f"A user {username} exists that is not only the demo's; nothing was changed.")
    password = saved.passwords.setdefault(username, secrets.token_urlsafe(9))
    if not user.check_password(password):
        user.set_password(password)
        user.save(update_fields=["password"])
    Membership.objects.update_or_create(workspace=workspace, user=user, defaults={"role": role})


def _replace_lost_token(workspace: Workspace, role: str, saved: DemoCredentials) -> None:
    """Keep the saved token while it is active, else create another."""
    digest = hash_secret(saved.tokens.get(role, ""))
    if not Token.objects.active().by_digest(digest).filter(workspace=workspace, role=role).exists():
        _, saved.tokens[role] = create_token(workspace, role, f"demo {role}")


def describe_demo(seeded: SeededDemo) -> str:
    """Return what a reader needs to begin: address, accounts, tokens, and what to click."""
    users = [
        f"  {name:<5} {PEOPLE[name].label!s:<9} {word}" for name, word in seeded.credentials.passwords.items()
    ]
    tokens = [f"  {role:<9} {text}" for role, text in seeded.credentials.tokens.items()]
    return "\n".join(
        [
            "",
            f"Open {settings.PUBLIC_URL}/ and sign in:",
            *users,
            "Tokens for the REST API, each with one role:",
            *tokens,
            f"The agent works in {seeded.repository}.",
            "What to click:",
            "  1. Sign in as rex. Approvals shows two calls that need a person's decision.",
            "  2. Open the edit of docs/design.md, read the diff, approve it. The agent continues at once.",
            "  3. Open the command, see what it would write, approve or reject it with a note.",
            "  4. Sessions shows the whole story in order. Sign in as ada to change intents and policy.",
            "Ctrl-C ends the server and the agent; a second run finds everything again.",
            "",
        ]
    )
