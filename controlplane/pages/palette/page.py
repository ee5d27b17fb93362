"""Serve the palette: as a page of its own, and as the list that the dialog of every page fetches."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from controlplane.pages.palette.search import MAX_TEXT, search_workspace
from controlplane.shared.access import MemberRequest, member_page


@require_safe
@never_cache
@member_page()
def palette(request: MemberRequest) -> HttpResponse:
    """Find what `q` may mean; `?fragment=hits` returns the list alone."""
    text = request.GET.get("q", "").strip()[:MAX_TEXT]
    groups = search_workspace(request.workspace, request.role, text)
    template = "palette/_hits.html" if request.GET.get("fragment") == "hits" else "palette/palette.html"
    return render(request, template, {"groups": groups, "q": text})
