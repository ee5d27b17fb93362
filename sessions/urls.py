"""Pages of sessions, below `/w/<slug>/sessions/`. Ids are the clients' own and may hold slashes."""

from django.urls import path

from sessions import session_pages

app_name = "sessions"
urlpatterns = [
    path("", session_pages.session_list, name="list"),
    path("end/<path:session_id>", session_pages.end, name="end"),
    path("<path:session_id>", session_pages.session_detail, name="detail"),
]
