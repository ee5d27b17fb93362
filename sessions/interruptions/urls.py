"""Routes of the page of interruptions, below `/w/<slug>/interruptions/`."""

from django.urls import path

from sessions.interruptions import pages

app_name = "interruptions"
urlpatterns = [
    path("", pages.interruptions, name="page"),
    path("rules/", pages.make_rule, name="make-rule"),
    path("rules/<slug:rule_id>/take-back/", pages.take_back_rule, name="take-back"),
]
