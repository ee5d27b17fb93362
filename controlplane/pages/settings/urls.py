from django.urls import path

from controlplane.pages.settings import ledger, outlets, pages

app_name = "settings"

urlpatterns = [
    path("", pages.policy, name="policy"),
    path("starter/", pages.apply_starter, name="starter"),
    path("intentignore/", pages.intentignore, name="intentignore"),
    path("members/", pages.member_list, name="members"),
    path("tokens/", pages.token_list, name="tokens"),
    path("outlets/", outlets.outlet_list, name="outlets"),
    path("ledger/", ledger.ledger, name="ledger"),
]
