from django.urls import path

from traces.pages import file as file_pages
from traces.pages import intent_map as map_pages
from traces.pages import ledger as ledger_pages
from traces.pages import trace_list

app_name = "traces"
urlpatterns = [
    path("", trace_list.trace_list, name="list"),
    path("export", trace_list.trace_export, name="export"),
    path("proof/<int:number>", trace_list.proof_file, name="proof"),
    path("ledger/", ledger_pages.ledger_page, name="ledger"),
    path("ledger/checkpoint", ledger_pages.checkpoint_file, name="checkpoint"),
    path("ledger/verifier", ledger_pages.verifier_file, name="verifier"),
    path("map/", map_pages.intent_map, name="map"),
    path("map/file/<path:path>", file_pages.file_page, name="file"),
]
