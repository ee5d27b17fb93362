"""Routes of the approval pages, below `/w/<slug>/approvals/`."""

from django.urls import path

from sessions.approvals import pages
from sessions.approvals.batch import pages as batch_pages
from sessions.approvals.history import pages as history_pages

app_name = "approvals"
urlpatterns = [
    path("", pages.approval_list, name="list"),
    path("history/", history_pages.history, name="history"),
    path("history/export/", history_pages.history_export, name="history-export"),
    path("decide/", batch_pages.decide_batch, name="decide-batch"),
    path("alike/<slug:shape>/", batch_pages.alike_card, name="alike"),
    path("grants/<slug:grant_id>/revoke/", pages.revoke_grant, name="revoke"),
    path("<slug:approval_id>/", pages.approval_card, name="card"),
    path("<slug:approval_id>/decide/", pages.decide_approval, name="decide"),
    path("<slug:approval_id>/extend/", pages.extend_approval, name="extend"),
]
