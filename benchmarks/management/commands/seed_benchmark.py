from __future__ import annotations

import json
import time
import uuid
from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandParser
from django.db import transaction
from django.test import Client
from django.utils import timezone

from controlplane.models import Membership, Role, Workspace
from controlplane.server.middleware import LAST_USED
from controlplane.shared.workspaces import create_workspace
from intents.models import Intent
from sessions.lifecycle.handshake import select_intent
from sessions.models import AgentSession
from traces.ledger.append import NewEntry, append_many

SESSIONS = 8
BATCH = 2_000


class Command(BaseCommand):
    help = (
        "Make a workspace for the benchmarks: intents of 20 patterns, sessions that hold one, "
        "ledger entries, a reviewer who is signed in."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--intents", type=int, default=10)
        parser.add_argument("--entries", type=int, default=0)

    def handle(self, *args: Any, **options: Any) -> None:
        made = create_workspace(f"bench-{uuid.uuid4().hex[:10]}")
        workspace = made.workspace
        Workspace.objects.filter(pk=workspace.pk).update(policy={"shared_intents": "allow"}, revision=2)
        Intent.objects.bulk_create(_intent(workspace, number) for number in range(options["intents"]))
        token = workspace.tokens.get(role="agent")
        for number in range(SESSIONS):
            session = AgentSession.objects.create(
                workspace=workspace, session_id=f"bench-{number}", token=token, last_seen_at=timezone.now()
            )
            handed = select_intent(session, "INT-001", "benchmark")
            assert handed["success"], handed
        for start in range(0, options["entries"], BATCH):
            with transaction.atomic():
                append_many(_entry(workspace.pk, number) for number in range(start, start + BATCH))
        cookie = _sign_in(workspace)
        self.stdout.write(
            json.dumps({"workspace": workspace.slug, "token": made.tokens["agent"], "cookie": cookie})
        )


def _sign_in(workspace: Workspace) -> str:
    """Make a reviewer and return their session's key, as the sign-in page makes one."""
    user = User.objects.create_user(workspace.slug)
    Membership.objects.create(workspace=workspace, user=user, role=Role.REVIEWER)
    client = Client()
    client.force_login(user)
    session = client.session
    session[LAST_USED] = int(time.time())
    session.save()
    return session.session_key


def _intent(workspace: Workspace, number: int) -> Intent:
    return Intent(
        workspace=workspace,
        intent_id=f"INT-{number + 1:03}",
        position=number + 1,
        name=f"Area {number}",
        status="PENDING",
        owned_scope=[f"src/area{number}/**", *(f"lib/area{number}/part{part}/*.ts" for part in range(19))],
    )


def _entry(workspace_id: int, number: int) -> NewEntry:
    return NewEntry(
        workspace_id=workspace_id,
        kind="decision",
        session_id=f"old-{number % 500}",
        intent_id="INT-001",
        outcome="allow",
        agent="benchmark",
        tool="Write",
        body={"tool": "Write", "targets": [f"src/area0/file{number}.ts"], "decision": "allow"},
    )
