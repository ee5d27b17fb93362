"""The site under `/admin/`, with the sign-in limit of the product's own pages."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from django.contrib import admin
from django.contrib.admin.forms import AdminAuthenticationForm
from django.core.exceptions import NON_FIELD_ERRORS
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.translation import gettext_lazy as _

from controlplane.pages.sign_in import ThrottledAuthenticationForm


class OperatorSignInForm(ThrottledAuthenticationForm, AdminAuthenticationForm):
    """One limit for both sign-ins: guesses here count there too."""


class OperatorSite(admin.AdminSite):
    login_form = OperatorSignInForm
    site_header = site_title = _("Operator pages")
    index_title = _("What the server holds")

    def login(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Answer 429 to throttled attempts."""
        response = super().login(request, extra_context)
        form = (response.context_data or {}).get("form") if isinstance(response, TemplateResponse) else None
        if form is not None and form.has_error(NON_FIELD_ERRORS, "too_often"):
            response.status_code = HTTPStatus.TOO_MANY_REQUESTS
        return response
