from django.urls import path

from traces import map_pages, pages

app_name = "traces"
urlpatterns = [
    path("", pages.trace_list, name="list"),
    path("export", pages.trace_export, name="export"),
    path("map/", map_pages.intent_map, name="map"),
    path("map/file/<path:path>", map_pages.file_page, name="file"),
]
