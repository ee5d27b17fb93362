from django.urls import path

from controlplane import ledger_settings, outlet_pages, settings_pages

app_name = "settings"

urlpatterns = [
    path("", settings_pages.policy, name="policy"),
    path("starter/", settings_pages.apply_starter, name="starter"),
    path("intentignore/", settings_pages.intentignore, name="intentignore"),
    path("members/", settings_pages.member_list, name="members"),
    path("tokens/", settings_pages.token_list, name="tokens"),
    path("outlets/", outlet_pages.outlet_list, name="outlets"),
    path("ledger/", ledger_settings.ledger, name="ledger"),
]
