"""Routes of the pages of stops, below `/w/<slug>/stops/`."""

from django.urls import path

from sessions.stops import pages

app_name = "stops"
urlpatterns = [
    path("", pages.stop_list, name="list"),
    path("set/", pages.set_stop, name="set"),
    path("<slug:stop_id>/lift/", pages.lift_stop, name="lift"),
]
