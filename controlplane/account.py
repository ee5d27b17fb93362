"""Signing in and out, and a person's own choice of light or dark."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.contrib.auth.views import LoginView, LogoutView
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST, require_safe

from controlplane.models import Membership

THEMES = ("system", "light", "dark")
THEME_COOKIE = "theme"
YEAR_SECONDS = 365 * 24 * 3600


class SignIn(LoginView):
    redirect_authenticated_user = True


class SignOut(LogoutView):
    pass


@require_safe
@login_required
def home(request: HttpRequest) -> HttpResponse:
    """The first workspace of the signed-in person; a page that says what to do when there is none."""
    assert request.user.pk is not None  # login_required let nobody else in
    mine = Membership.objects.select_related("workspace").filter(user_id=request.user.pk)
    first = mine.order_by("workspace__slug").first()
    if first is None:
        return render(request, "no_workspace.html", status=200)
    return redirect(reverse("approvals:list", args=[first.workspace.slug]))


@require_POST
def set_theme(request: HttpRequest) -> HttpResponse:
    theme = request.POST.get("theme", "system")
    back = request.POST.get("next", "/")
    if not url_has_allowed_host_and_scheme(back, {request.get_host()}, require_https=request.is_secure()):
        back = "/"
    response = redirect(back)
    if theme in THEMES:
        response.set_cookie(
            THEME_COOKIE,
            theme,
            max_age=YEAR_SECONDS,
            secure=request.is_secure(),
            httponly=True,
            samesite="Lax",
        )
    return response
