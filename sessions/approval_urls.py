"""Pages of approvals, below `/w/<slug>/approvals/`."""

from django.urls import path

from sessions import approval_pages

app_name = "approvals"
urlpatterns = [
    path("", approval_pages.approval_list, name="list"),
    path("grants/<slug:grant_id>/revoke/", approval_pages.revoke_grant, name="revoke"),
    path("<slug:approval_id>/", approval_pages.approval_card, name="card"),
    path("<slug:approval_id>/decide/", approval_pages.decide_approval, name="decide"),
    path("<slug:approval_id>/extend/", approval_pages.extend_approval, name="extend"),
]
