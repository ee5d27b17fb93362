"""Pages of sessions, below `/w/<slug>/sessions/`. Ids are the clients' own and may hold anything."""

from django.urls import path, register_converter

from sessions import session_pages
from sessions.any_id import AnyId

register_converter(AnyId, "anyid")
app_name = "sessions"
urlpatterns = [
    path("", session_pages.session_list, name="list"),
    path("<anyid:session_id>", session_pages.one_session, name="detail"),
]
