"""Settings pages of a workspace: every member reads them, admins change them. Services hold the rules."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import F
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from controlplane.models import Membership, Role, Token, TokenRole, Workspace
from controlplane.pages.settings import members
from controlplane.pages.settings import tokens as issued_tokens
from controlplane.pages.settings.policy_form import PolicyForm
from controlplane.policy.globs.intentignore import IgnoreRules
from controlplane.shared.access import MemberRequest, display_name, has_role, member_page
from controlplane.shared.starters import AGENT_STARTERS, STARTERS, detect_starter
from intents.errors import InvalidIntentignoreError
from intents.rules import intentignore as ignorefile
from intents.rules import recommendations
from intents.rules.ignore_files import read_ignore_files
from intents.rules.policy import change_policy, read_policy
from intents.selectors import list_intent_ids

CHANGED_BY_OTHERS = (
    "Someone else saved a change while you were editing. Your version is shown; save again to replace theirs."
)

ROLES = (
    (Role.ADMIN, _("Decides on approvals; changes intents, policy, members and tokens.")),
    (Role.REVIEWER, _("Decides on approvals; ends and freezes sessions.")),
    (Role.AUDITOR, _("Reads everything; changes nothing.")),
)
TOKEN_ROLES = (
    (TokenRole.AGENT, _("Calls the gate, selects intents, reports traces. For agents.")),
    (TokenRole.REVIEWER, _("Also decides on approvals of other tokens' sessions. For review tools.")),
    (TokenRole.ADMIN, _("Also changes intents, policy and .intentignore. For administration scripts.")),
)

settings_page = require_http_methods(["GET", "HEAD", "POST"])


def get_actor(request: MemberRequest) -> str:
    """Return the signed-in user's name in ledger entries."""
    return f"person:{request.user.pk}:{display_name(request.user)}"


def is_change(request: MemberRequest) -> bool:
    """Return whether the request is a POST. Raise PermissionDenied unless an admin sent it."""
    if request.method != "POST":
        return False
    if not has_role(request.role, Role.ADMIN):
        raise PermissionDenied(gettext("Only an admin can change settings."))
    return True


def compute_version(value: Any) -> int:
    """Return a checksum of the value that a form was rendered from, to detect edits by others."""
    return zlib.crc32(json.dumps(value, sort_keys=True).encode())


def has_current_version(request: MemberRequest, value: Any) -> bool:
    return request.POST.get("version") == str(compute_version(value))


def lock_workspace(workspace: Workspace) -> Workspace:
    return Workspace.objects.select_for_update().get(pk=workspace.pk)


def to_choices(roles: Any) -> list[dict[str, str]]:
    return [{"value": role.value, "label": role.label, "says": says} for role, says in roles]


def read_posted_id(request: MemberRequest, name: str) -> int:
    text = request.POST.get(name, "")
    if not (text.isascii() and text.isdigit() and len(text) < 19):
        raise Http404
    return int(text)


@settings_page
@member_page()
def policy(request: MemberRequest) -> HttpResponse:
    if not is_change(request):
        return _policy_page(request, PolicyForm(document=read_policy(request.workspace)))
    with transaction.atomic():
        # Locked before the version is compared: two admins who save at once must not both pass.
        workspace = lock_workspace(request.workspace)
        form = PolicyForm(request.POST, document=read_policy(workspace))
        if not has_current_version(request, form.document):
            messages.error(request, CHANGED_BY_OTHERS)
            return _policy_page(request, form, status=409)
        if not form.is_valid():
            return _policy_page(request, form, status=400)
        change_policy(workspace, form.changes, actor=get_actor(request))
    messages.success(request, gettext("The policy is saved and takes effect on the next call."))
    return redirect("settings:policy", workspace.slug)


def _policy_page(request: MemberRequest, form: PolicyForm, status: int = 200) -> HttpResponse:
    workspace = Workspace.objects.get(pk=request.workspace.pk)
    context = {
        "fieldsets": form.fieldsets(),
        "version": compute_version(read_policy(workspace)),
        "revision": workspace.revision,
        "may_edit": has_role(request.role, Role.ADMIN),
        "starters": _list_starters(workspace),
    }
    return render(request, "settings/policy.html", context, status=status)


def _list_starters(workspace: Workspace) -> list[dict[str, Any]]:
    """Return recommended settings that the workspace lacks; those for its own kind of project first."""
    detected = detect_starter(Path(workspace.local_root)) if workspace.local_root else None
    own_kind = detected.kind if detected is not None else ""
    kinds = sorted(STARTERS.values(), key=lambda starter: starter.kind != own_kind)
    kinds = [detected if detected and starter.kind == own_kind else starter for starter in kinds]
    kinds += AGENT_STARTERS.values()
    rows = [(starter, recommendations.find_missing(workspace, starter)) for starter in kinds]
    return [
        {"starter": starter, "missing": missing, "detected": starter.kind == own_kind}
        for starter, missing in rows
        if missing
    ]


@require_POST
@member_page(Role.ADMIN)
def apply_starter(request: MemberRequest) -> HttpResponse:
    kind = request.POST.get("starter", "")
    starter = STARTERS.get(kind) or AGENT_STARTERS.get(kind)
    if starter is None:
        raise Http404
    recommendations.apply_recommendations(request.workspace, starter, actor=get_actor(request))
    messages.success(
        request, gettext("The recommended settings for %(kind)s are applied.") % {"kind": starter.label}
    )
    return redirect("settings:policy", request.workspace.slug)


@settings_page
@member_page()
def intentignore(request: MemberRequest) -> HttpResponse:
    """Edit .intentignore. Any member may test a path, an admin also against text that is not saved yet."""
    saved = request.workspace.intentignore
    posted = request.POST.get("text", "").replace("\r\n", "\n")
    if request.POST.get("action") == "test":
        text = posted if has_role(request.role, Role.ADMIN) else saved
        return _intentignore_page(request, text, tried=request.POST.get("path", "").strip())
    if not is_change(request):
        return _intentignore_page(request, saved)
    with transaction.atomic():
        workspace = lock_workspace(request.workspace)
        if not has_current_version(request, workspace.intentignore):
            messages.error(request, CHANGED_BY_OTHERS)
            return _intentignore_page(request, posted, status=409)
        try:
            ignorefile.save_intentignore(
                workspace, ignorefile.decode_text(posted.encode()), actor=get_actor(request)
            )
        except InvalidIntentignoreError as error:
            messages.error(request, str(error))
            return _intentignore_page(request, posted, status=400)
    messages.success(request, gettext(".intentignore is saved and takes effect on the next call."))
    return redirect("settings:intentignore", workspace.slug)


def _intentignore_page(
    request: MemberRequest, text: str, *, tried: str = "", status: int = 200
) -> HttpResponse:
    files = read_ignore_files(request.workspace.local_root)
    rules = {"": IgnoreRules.parse(text)} | {file.path: IgnoreRules.parse(file.text) for file in files}
    context = {
        "text": text,
        "version": compute_version(Workspace.objects.get(pk=request.workspace.pk).intentignore),
        "errors": list(ignorefile.find_line_warnings(text, list_intent_ids(request.workspace.pk))),
        "may_edit": has_role(request.role, Role.ADMIN),
        "files": files,
        "test": _try_path(rules, tried) if tried.strip("./") else None,
        "intents": sorted(frozenset().union(*(file.intents for file in rules.values()))),
    }
    return render(request, "settings/intentignore.html", context, status=status)


def _try_path(rules: Mapping[str, IgnoreRules], tried: str) -> dict[str, str | None]:
    """Return the first line that ignores a path, and the file on disk that it stands in, if any."""
    path, is_dir = tried.removeprefix("./").strip("/"), tried.endswith("/")
    matches = ((name, file.find_rule(path, is_dir=is_dir)) for name, file in rules.items())
    source, line = next(((name, line) for name, line in matches if line is not None), ("", None))
    return {"path": tried, "line": line, "source": source}


@settings_page
@member_page()
def member_list(request: MemberRequest) -> HttpResponse:
    error = ""
    if is_change(request):
        try:
            _change_members(request)
        except members.MemberError as denied:
            error = str(denied)
        else:
            return redirect("settings:members", request.workspace.slug)
    rows = Membership.objects.filter(workspace=request.workspace).select_related("user")
    context = {
        "members": [_member_row(request, row) for row in rows.order_by("user__username")],
        "roles": to_choices(ROLES),
        "may_edit": has_role(request.role, Role.ADMIN),
        "error": error,
    }
    return render(request, "settings/members.html", context, status=400 if error else 200)


def _change_members(request: MemberRequest) -> None:
    workspace, action, actor = request.workspace, request.POST.get("action"), get_actor(request)
    role = request.POST.get("role", "")
    if action != "remove" and role not in Role.values:
        raise members.MemberError(gettext("Choose a role."))
    if action == "add":
        members.add(workspace, request.POST.get("username", "").strip(), Role(role), actor=actor)
    elif action == "role":
        members.change_role(workspace, read_posted_id(request, "user_id"), Role(role), actor=actor)
    elif action == "remove":
        members.remove(workspace, read_posted_id(request, "user_id"), actor=actor)


def _member_row(request: MemberRequest, row: Membership) -> dict[str, Any]:
    return {
        "user_id": row.user_id,
        "name": display_name(row.user),
        "username": row.user.get_username(),
        "role": row.role,
        "is_you": row.user_id == request.user.pk,
        "last_login": row.user.last_login,
    }


@settings_page
@never_cache
@member_page()
def token_list(request: MemberRequest) -> HttpResponse:
    """List tokens. The response to the POST that creates one is the only page that shows its text."""
    new_token, error = None, ""
    if is_change(request):
        if request.POST.get("action") == "revoke":
            token = Token.objects.filter(
                workspace=request.workspace, pk=read_posted_id(request, "token_id")
            ).first()
            if token is not None:
                issued_tokens.revoke(token, actor=get_actor(request))
            return redirect("settings:tokens", request.workspace.slug)
        new_token, error = _create_token(request)
    tokens = Token.objects.filter(workspace=request.workspace).select_related("acts_for")
    context = {
        "tokens": [
            _token_row(token)
            for token in tokens.order_by(F("revoked_at").asc(nulls_first=True), "-created_at")
        ],
        "roles": to_choices(TOKEN_ROLES),
        "may_edit": has_role(request.role, Role.ADMIN),
        "error": error,
        "fresh": new_token,
    }
    return render(request, "settings/tokens.html", context, status=400 if error else 200)


def _create_token(request: MemberRequest) -> tuple[dict[str, str] | None, str]:
    """Return the token to show, or an error message.

    It acts for its creator, unless `acts_for` is nobody: then its creator may decide on its requests.
    """
    name, role = request.POST.get("name", "").strip(), request.POST.get("role", "")
    if not name or len(name) > 100 or not name.isprintable():
        return None, gettext("Enter a name of at most 100 printable characters.")
    if role not in TokenRole.values:
        return None, gettext("Choose a role.")
    acts_for = None if request.POST.get("acts_for") == "nobody" else request.user.pk
    _, secret = issued_tokens.issue(
        request.workspace, role, name, acts_for_id=acts_for, actor=get_actor(request)
    )
    return {"name": name, "role": role, "text": secret}, ""


def _token_row(token: Token) -> dict[str, Any]:
    return {
        "id": token.pk,
        "name": token.name,
        "role": token.role,
        "hint": token.hint,
        "acts_for": display_name(token.acts_for) if token.acts_for else "",
        "created_at": token.created_at,
        "last_used_at": token.last_used_at,
        "revoked_at": token.revoked_at,
    }
