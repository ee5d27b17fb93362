"""The settings of a workspace: every member reads them, admins change them. The pages hold no rule."""

from __future__ import annotations

import json
import zlib
from pathlib import Path
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import F
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from controlplane.models import Membership, Role, Token, TokenRole, Workspace
from controlplane.pages.settings import members
from controlplane.pages.settings import tokens as issued_tokens
from controlplane.pages.settings.policy_form import PolicyForm
from controlplane.policy.globs.intentignore import IgnoreRules
from controlplane.shared.access import MemberRequest, may, member_page, person_name
from controlplane.shared.starters import STARTERS, detected
from intents import intentignore as ignorefile
from intents import recommendations
from intents.errors import InvalidIntentignoreError
from intents.selectors import list_intent_ids
from intents.workspace_policy import change_policy, read_policy

CHANGED_MEANWHILE = "Somebody saved this meanwhile. Yours is shown; saving it again replaces theirs."

ROLES = (
    (Role.ADMIN, "Decides, and changes intents, policy, members and tokens."),
    (Role.REVIEWER, "Decides on approvals; ends and freezes sessions."),
    (Role.AUDITOR, "Reads everything, changes nothing."),
)
TOKEN_ROLES = (
    (TokenRole.AGENT, "Asks the gate, takes intents, reports traces. For agents."),
    (TokenRole.REVIEWER, "Also decides on what other tokens' sessions ask. For review tools."),
    (TokenRole.ADMIN, "Also changes intents, policy and .intentignore. For operators' scripts."),
)

settings_page = require_http_methods(["GET", "HEAD", "POST"])


def actor_of(request: MemberRequest) -> str:
    """How the ledger names the signed-in person."""
    return f"person:{request.user.pk}:{person_name(request.user)}"


def changing(request: MemberRequest) -> bool:
    """Whether the request is to change something. Raises PermissionDenied for everybody but admins."""
    if request.method != "POST":
        return False
    if not may(request.role, Role.ADMIN):
        raise PermissionDenied("Only an admin changes settings.")
    return True


def fingerprint(value: Any) -> int:
    """What a form was drawn from, so that saving can tell whether it is still the same."""
    return zlib.crc32(json.dumps(value, sort_keys=True).encode())


def seen(request: MemberRequest, value: Any) -> bool:
    return request.POST.get("version") == str(fingerprint(value))


def locked(workspace: Workspace) -> Workspace:
    return Workspace.objects.select_for_update().get(pk=workspace.pk)


def worded(roles: Any) -> list[dict[str, str]]:
    return [{"value": role.value, "label": role.label, "says": says} for role, says in roles]


def posted_id(request: MemberRequest, name: str) -> int:
    text = request.POST.get(name, "")
    if not (text.isascii() and text.isdigit() and len(text) < 19):
        raise Http404
    return int(text)


@settings_page
@member_page()
def policy(request: MemberRequest) -> HttpResponse:
    if not changing(request):
        return _policy_page(request, PolicyForm(document=read_policy(request.workspace)))
    with transaction.atomic():
        workspace = locked(request.workspace)
        form = PolicyForm(request.POST, document=read_policy(workspace))
        if not seen(request, form.document):
            messages.error(request, CHANGED_MEANWHILE)
            return _policy_page(request, form, status=409)
        if not form.is_valid():
            return _policy_page(request, form, status=400)
        change_policy(workspace, form.changes, actor=actor_of(request))
    messages.success(request, "The policy is saved and takes effect on the next call.")
    return redirect("settings:policy", workspace.slug)


def _policy_page(request: MemberRequest, form: PolicyForm, status: int = 200) -> HttpResponse:
    workspace = Workspace.objects.get(pk=request.workspace.pk)
    context = {
        "fieldsets": form.fieldsets(),
        "version": fingerprint(read_policy(workspace)),
        "revision": workspace.revision,
        "may_edit": may(request.role, Role.ADMIN),
        "starters": _starters(workspace),
    }
    return render(request, "settings/policy.html", context, status=status)


def _starters(workspace: Workspace) -> list[dict[str, Any]]:
    """What each kind of project is recommended and the workspace lacks; the one its files tell first."""
    own = detected(Path(workspace.local_root)) if workspace.local_root else None
    kinds = sorted(STARTERS.values(), key=lambda starter: starter is not own)
    rows = [(starter, recommendations.find_missing(workspace, starter)) for starter in kinds]
    return [{"starter": one, "missing": lacks, "detected": one is own} for one, lacks in rows if lacks]


@require_POST
@member_page(Role.ADMIN)
def apply_starter(request: MemberRequest) -> HttpResponse:
    starter = STARTERS.get(request.POST.get("starter", ""))
    if starter is None:
        raise Http404
    recommendations.apply_recommendations(request.workspace, starter, actor=actor_of(request))
    messages.success(request, f"The recommendations for {starter.label} are taken over.")
    return redirect("settings:policy", request.workspace.slug)


@settings_page
@member_page()
def intentignore(request: MemberRequest) -> HttpResponse:
    """Saving needs an admin; anybody may try a path, an admin also against text that is not saved yet."""
    stored = request.workspace.intentignore
    posted = request.POST.get("text", "").replace("\r\n", "\n")
    if request.POST.get("action") == "test":
        text = posted if may(request.role, Role.ADMIN) else stored
        return _intentignore_page(request, text, tried=request.POST.get("path", "").strip())
    if not changing(request):
        return _intentignore_page(request, stored)
    with transaction.atomic():
        workspace = locked(request.workspace)
        if not seen(request, workspace.intentignore):
            messages.error(request, CHANGED_MEANWHILE)
            return _intentignore_page(request, posted, status=409)
        try:
            ignorefile.save(workspace, ignorefile.decode_text(posted.encode()), actor=actor_of(request))
        except InvalidIntentignoreError as error:
            messages.error(request, str(error))
            return _intentignore_page(request, posted, status=400)
    messages.success(request, ".intentignore is saved and holds from the next call.")
    return redirect("settings:intentignore", workspace.slug)


def _intentignore_page(
    request: MemberRequest, text: str, *, tried: str = "", status: int = 200
) -> HttpResponse:
    rules = IgnoreRules.parse(text)
    path = tried.removeprefix("./").strip("/")
    context = {
        "text": text,
        "version": fingerprint(Workspace.objects.get(pk=request.workspace.pk).intentignore),
        "errors": list(ignorefile.find_line_warnings(text, list_intent_ids(request.workspace.pk))),
        "may_edit": may(request.role, Role.ADMIN),
        "test": {"path": tried, "line": rules.find_rule(path, is_dir=tried.endswith("/"))} if path else None,
        "intents": sorted(rules.intents),
    }
    return render(request, "settings/intentignore.html", context, status=status)


@settings_page
@member_page()
def member_list(request: MemberRequest) -> HttpResponse:
    error = ""
    if changing(request):
        try:
            _change_members(request)
        except members.MemberError as refused:
            error = str(refused)
        else:
            return redirect("settings:members", request.workspace.slug)
    rows = Membership.objects.filter(workspace=request.workspace).select_related("user")
    context = {
        "members": [_member_row(request, row) for row in rows.order_by("user__username")],
        "roles": worded(ROLES),
        "may_edit": may(request.role, Role.ADMIN),
        "error": error,
    }
    return render(request, "settings/members.html", context, status=400 if error else 200)


def _change_members(request: MemberRequest) -> None:
    workspace, action, actor = request.workspace, request.POST.get("action"), actor_of(request)
    role = request.POST.get("role", "")
    if action != "remove" and role not in Role.values:
        raise members.MemberError("Choose a role.")
    if action == "add":
        members.add(workspace, request.POST.get("username", "").strip(), Role(role), actor=actor)
    elif action == "role":
        members.change_role(workspace, posted_id(request, "user_id"), Role(role), actor=actor)
    elif action == "remove":
        members.remove(workspace, posted_id(request, "user_id"), actor=actor)


def _member_row(request: MemberRequest, row: Membership) -> dict[str, Any]:
    return {
        "user_id": row.user_id,
        "name": person_name(row.user),
        "username": row.user.get_username(),
        "role": row.role,
        "is_you": row.user_id == request.user.pk,
        "last_login": row.user.last_login,
    }


@settings_page
@never_cache
@member_page()
def token_list(request: MemberRequest) -> HttpResponse:
    """A new token is shown in the answer to the post that made it, and never again."""
    fresh, error = None, ""
    if changing(request):
        if request.POST.get("action") == "revoke":
            found = Token.objects.filter(
                workspace=request.workspace, pk=posted_id(request, "token_id")
            ).first()
            if found is not None:
                issued_tokens.revoke(found, actor=actor_of(request))
            return redirect("settings:tokens", request.workspace.slug)
        fresh, error = _make_token(request)
    tokens = Token.objects.filter(workspace=request.workspace).select_related("acts_for")
    context = {
        "tokens": [
            _token_row(token)
            for token in tokens.order_by(F("revoked_at").asc(nulls_first=True), "-created_at")
        ],
        "roles": worded(TOKEN_ROLES),
        "may_edit": may(request.role, Role.ADMIN),
        "error": error,
        "fresh": fresh,
    }
    return render(request, "settings/tokens.html", context, status=400 if error else 200)


def _make_token(request: MemberRequest) -> tuple[dict[str, str] | None, str]:
    """The token to show, or what is wrong. It acts for whoever makes it unless `acts_for` says nobody:
    then it is a service identity, and its maker may decide on what it asks."""
    name, role = request.POST.get("name", "").strip(), request.POST.get("role", "")
    if not name or len(name) > 100 or not name.isprintable():
        return None, "Give the token a name of at most 100 characters, to know it again."
    if role not in TokenRole.values:
        return None, "Choose a role."
    acts_for = None if request.POST.get("acts_for") == "nobody" else request.user.pk
    _, secret = issued_tokens.issue(
        request.workspace, role, name, acts_for_id=acts_for, actor=actor_of(request)
    )
    return {"name": name, "role": role, "text": secret}, ""


def _token_row(token: Token) -> dict[str, Any]:
    return {
        "id": token.pk,
        "name": token.name,
        "role": token.role,
        "hint": token.hint,
        "acts_for": person_name(token.acts_for) if token.acts_for else "",
        "created_at": token.created_at,
        "last_used_at": token.last_used_at,
        "revoked_at": token.revoked_at,
    }
