from django.urls import path

from traces.blame import pages as file_pages
from traces.browser import pages
from traces.filemap import pages as map_pages
from traces.ledger import pages as ledger_pages

app_name = "traces"
urlpatterns = [
    path("", pages.trace_list, name="list"),
    path("export", pages.trace_export, name="export"),
    path("proof/<int:number>", pages.proof_file, name="proof"),
    path("ledger/", ledger_pages.ledger_page, name="ledger"),
    path("ledger/checkpoint", ledger_pages.checkpoint_file, name="checkpoint"),
    path("ledger/verifier", ledger_pages.verifier_file, name="verifier"),
    path("map/", map_pages.intent_map, name="map"),
    path("map/file/<path:path>", file_pages.file_page, name="file"),
]
