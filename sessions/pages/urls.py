"""Routes of the session pages, below `/w/<slug>/sessions/`. Clients choose the ids; they hold any text."""

from django.urls import path, register_converter

from sessions.pages import views
from sessions.path_converters import AnyTextConverter

register_converter(AnyTextConverter, "anyid")
app_name = "sessions"
urlpatterns = [
    path("", views.session_list, name="list"),
    path("<anyid:session_id>", views.session_address, name="detail"),
]
