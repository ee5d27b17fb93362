"""Find what a text may mean: pages, intents, approvals, files, sessions, people. A few of each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from urllib.parse import urlencode

from django.db.models import Max, Q, QuerySet
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from controlplane.models import Membership, Role, Workspace
from controlplane.shared.access import display_name, has_role
from controlplane.templatetags.meanings import NAV_ITEMS
from controlplane.templatetags.names import agent_title
from intents.models import Intent
from sessions.approvals.card.subjects import describe_subject
from sessions.models import AgentSession, Approval
from traces.models import FileCount

MAX_HITS = 6  # of each group
MAX_TERMS = 6
MAX_TEXT = 200
MIN_TEXT = 2  # characters; less would find everything

# Pages that the navigation does not name: URL name, title, icon, least role
PAGES: tuple[tuple[str, str | Promise, str, Role], ...] = (
    ("approvals:history", _("History of approvals"), "inbox", Role.AUDITOR),
    ("interruptions:page", _("Interruptions"), "bars", Role.AUDITOR),
    ("stops:list", _("Emergency stop: stop every agent, or one"), "stop", Role.AUDITOR),
    ("intents:new", _("New intent"), "plus", Role.ADMIN),
    ("intents:import", _("Import or export intents"), "upload", Role.AUDITOR),
    ("settings:policy", _("Policy"), "sliders", Role.AUDITOR),
    ("settings:intentignore", _(".intentignore"), "sliders", Role.AUDITOR),
    ("settings:members", _("Members and roles"), "sliders", Role.AUDITOR),
    ("settings:tokens", _("Tokens"), "sliders", Role.AUDITOR),
    ("settings:outlets", _("Outlets: webhooks and collectors"), "sliders", Role.AUDITOR),
    ("settings:mcp-tools", _("MCP tools"), "sliders", Role.AUDITOR),
    ("settings:ledger", _("Ledger, anchors and retention"), "sliders", Role.AUDITOR),
    ("traces:ledger", _("Verify the ledger"), "sealed", Role.AUDITOR),
)


@dataclass(frozen=True, slots=True)
class Hit:
    """One thing that was found. `title` and `detail` may come from agents."""

    title: str | Promise
    url: str
    icon: str
    detail: str | Promise = ""


@dataclass(frozen=True, slots=True)
class HitGroup:
    title: str | Promise
    hits: tuple[Hit, ...]


def search_workspace(workspace: Workspace, role: Role, text: str) -> list[HitGroup]:
    """Return what fits every word of the text, by group; pages alone for a text that is too short.

    1 query for each of 5 groups.
    """
    terms = text.casefold().replace("\0", "").split()[:MAX_TERMS]
    groups: list[tuple[str | Promise, tuple[Hit, ...]]] = [
        (_("Pages and actions"), tuple(_find_pages(workspace, role, terms)))
    ]
    if len("".join(terms)) >= MIN_TEXT:
        groups += [(title, tuple(find(workspace, terms))[:MAX_HITS]) for title, find in FINDERS]
    return [HitGroup(title, hits) for title, hits in groups if hits]


def _find_pages(workspace: Workspace, role: Role, terms: list[str]) -> Iterator[Hit]:
    named = [(place.url_name, place.label, place.icon, Role.AUDITOR) for place in NAV_ITEMS]
    for url_name, title, icon, least_role in (*named, *PAGES):
        is_match = all(term in str(title).casefold() for term in terms)
        if is_match and has_role(role, least_role):
            yield Hit(title, reverse(url_name, args=[workspace.slug]), icon)


def _find_intents(workspace: Workspace, terms: list[str]) -> Iterator[Hit]:
    rows = _match(Intent.objects.filter(workspace=workspace), terms, "intent_id", "name")
    for intent in rows.order_by("position", "pk")[:MAX_HITS]:
        url = reverse("intents:detail", args=[workspace.slug, intent.intent_id])
        yield Hit(f"{intent.intent_id} {intent.name}", url, "target", intent.get_status_display())


def _find_sessions(workspace: Workspace, terms: list[str]) -> Iterator[Hit]:
    rows = _match(AgentSession.objects.filter(workspace=workspace), terms, "session_id", "agent_name")
    for session in rows.order_by("-last_seen_at")[:MAX_HITS]:
        url = reverse("sessions:detail", args=[workspace.slug, session.session_id])
        yield Hit(session.session_id, url, "terminal", agent_title(session.agent_name))


def _find_approvals(workspace: Workspace, terms: list[str]) -> Iterator[Hit]:
    rows = Approval.objects.for_workspace(workspace.pk)
    for term in terms:
        rows = rows.filter(Q(search_text__contains=term) | Q(public_id__startswith=term))
    for approval in rows.select_related("session").order_by("-pk")[:MAX_HITS]:
        url = reverse("approvals:card", args=[workspace.slug, approval.public_id])
        subject = describe_subject(approval)
        yield Hit(f"{subject.verb} {subject.object}".strip(), url, "inbox", approval.get_status_display())


def _find_files(workspace: Workspace, terms: list[str]) -> Iterator[Hit]:
    rows = _match(FileCount.objects.filter(workspace_id=workspace.pk), terms, "path")
    newest = rows.order_by().values_list("path").annotate(changed=Max("last_changed")).order_by("-changed")
    for path, _changed in newest[:MAX_HITS]:
        yield Hit(path, reverse("traces:file", args=[workspace.slug, path]), "file")


def _find_people(workspace: Workspace, terms: list[str]) -> Iterator[Hit]:
    columns = ("user__username", "user__first_name", "user__last_name")
    rows = _match(Membership.objects.filter(workspace=workspace), terms, *columns)
    for membership in rows.select_related("user").order_by("user__username")[:MAX_HITS]:
        name = display_name(membership.user)
        url = f"{reverse('approvals:history', args=[workspace.slug])}?{urlencode({'by': name})}"
        yield Hit(name, url, "person", Role(membership.role).label)


def _match(rows: QuerySet, terms: Iterable[str], *columns: str) -> QuerySet:  # type: ignore[type-arg]  # of any model
    """Return the rows in which each term occurs in one of the columns."""
    for term in terms:
        condition = Q()
        for column in columns:
            condition |= Q(**{f"{column}__icontains": term})
        rows = rows.filter(condition)
    return rows


Finder = Callable[[Workspace, list[str]], Iterator[Hit]]
FINDERS: tuple[tuple[str | Promise, Finder], ...] = (
    (_("Intents"), _find_intents),
    (_("Approvals"), _find_approvals),
    (_("Files"), _find_files),
    (_("Sessions"), _find_sessions),
    (_("People"), _find_people),
)
