"""Sign in, sign out, and the theme of a user."""

from __future__ import annotations

import time
from http import HTTPStatus
from math import ceil
from typing import Any

from django.contrib.auth.decorators import login_required
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.views import LoginView, LogoutView
from django.core.exceptions import NON_FIELD_ERRORS, ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST, require_safe

from controlplane.models import Membership
from controlplane.server.middleware import LAST_USED
from controlplane.shared.rate_limit import TokenBuckets

THEMES = ("system", "light", "dark")
THEME_COOKIE = "theme"
YEAR_SECONDS = 365 * 24 * 3600
TOO_OFTEN = _("Too many wrong passwords for this name. Wait %(seconds)d seconds, then try again.")


# After ten wrong passwords for one user name from one address: one attempt every half minute.
MAX_GUESSES, SECONDS_PER_GUESS = 10, 30
guess_buckets = TokenBuckets()


class ThrottledAuthenticationForm(AuthenticationForm):
    """Slow down password guessing. A right password resets the count."""

    def clean(self) -> dict[str, Any]:
        # Taken before the password is checked: a throttled attempt must not reveal whether it was right.
        key = self._guess_key()
        wait_seconds = guess_buckets.take(key, per_second=1 / SECONDS_PER_GUESS, burst=MAX_GUESSES)
        if wait_seconds:
            raise ValidationError(TOO_OFTEN, code="too_often", params={"seconds": ceil(wait_seconds)})
        cleaned = super().clean()
        guess_buckets.forget(key)
        return cleaned

    def _guess_key(self) -> tuple[str, str]:
        address = self.request.META.get("REMOTE_ADDR", "") if self.request else ""
        return str(self.cleaned_data.get("username", "")).casefold(), address


class SignIn(LoginView):
    redirect_authenticated_user = True
    authentication_form = ThrottledAuthenticationForm

    def form_valid(self, form: AuthenticationForm) -> HttpResponse:
        response = super().form_valid(form)
        self.request.session[LAST_USED] = int(time.time())
        return response

    def form_invalid(self, form: AuthenticationForm) -> HttpResponse:
        """Answer 429 to throttled attempts."""
        response = super().form_invalid(form)
        if form.has_error(NON_FIELD_ERRORS, "too_often"):
            response.status_code = HTTPStatus.TOO_MANY_REQUESTS
        return response


class SignOut(LogoutView):
    pass


@require_safe
@login_required
def home(request: HttpRequest) -> HttpResponse:
    """Redirect to the user's first workspace, or explain what to do without one."""
    assert request.user.pk is not None  # login_required rejected everybody else
    first = Membership.objects.with_workspace().filter(user_id=request.user.pk).first()
    if first is None:
        return render(request, "no_workspace.html", status=200)
    return redirect(reverse("approvals:list", args=[first.workspace.slug]))


@require_POST
def set_theme(request: HttpRequest) -> HttpResponse:
    theme = request.POST.get("theme", "system")
    next_url = request.POST.get("next", "/")
    if not url_has_allowed_host_and_scheme(next_url, {request.get_host()}, require_https=request.is_secure()):
        next_url = "/"
    response = redirect(next_url)
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
