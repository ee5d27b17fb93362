"""Serve the set-up page of an empty server to whoever has its one-time token."""

from __future__ import annotations

import time
from typing import Any

from django import forms
from django.contrib.auth import login
from django.contrib.auth.models import User
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from controlplane.models import SLUG
from controlplane.pages.setup.first_run import FirstRun, set_up
from controlplane.server.middleware import LAST_USED
from controlplane.shared.errors import DomainError
from controlplane.shared.setup_token import is_setup_token

MAX_PATTERNS = 50
BACKEND = "django.contrib.auth.backends.ModelBackend"


class SetupForm(forms.Form):
    username = forms.CharField(
        label=_("User name"), max_length=150, initial="admin", validators=[User.username_validator]
    )
    password = forms.CharField(label=_("Password"), max_length=4096, widget=forms.PasswordInput)
    workspace = forms.CharField(label=_("Workspace"), max_length=50, validators=[SLUG])
    folder = forms.CharField(label=_("Folder of the repository"), max_length=1000, required=False)
    intent = forms.CharField(label=_("First intent"), max_length=200, initial=_("First work"))
    patterns = forms.CharField(
        label=_("Files that it may change"),
        max_length=5000,
        initial="src/**\ntests/**\ndocs/**",
        widget=forms.Textarea(attrs={"rows": 3}),
    )

    def clean_patterns(self) -> tuple[str, ...]:
        lines = (line.strip() for line in str(self.cleaned_data["patterns"]).splitlines())
        return tuple(filter(None, lines))[:MAX_PATTERNS]

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        if "password" in cleaned:
            try:
                validate_password(cleaned["password"], User(username=cleaned.get("username", "")))
            except ValidationError as error:
                self.add_error("password", error)
        return cleaned


@sensitive_post_parameters("password")
@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def setup(request: HttpRequest) -> HttpResponse:
    """Ask for everything at once; then sign in and lead on to the agent. 404 without the token."""
    token = request.POST.get("token") or request.GET.get("token", "")
    if not is_setup_token(token):
        raise Http404
    form = SetupForm(request.POST or None)
    error = ""
    if form.is_valid():
        try:
            user, workspace = set_up(FirstRun(**form.cleaned_data))
        except DomainError as refused:
            error = refused.error
        else:
            login(request, user, backend=BACKEND)
            request.session[LAST_USED] = int(time.time())
            return redirect(reverse("connect", args=[workspace.slug]))
    return render(request, "setup/setup.html", {"form": form, "token": token, "error": error})
