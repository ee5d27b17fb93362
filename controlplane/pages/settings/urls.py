from django.urls import path

from controlplane.pages.settings import ledger, mcp_tools, outlets, pages

app_name = "settings"

urlpatterns = [
    path("", pages.policy, name="policy"),
    path("starter/", pages.apply_starter, name="starter"),
    path("intentignore/", pages.intentignore, name="intentignore"),
    path("members/", pages.member_list, name="members"),
    path("tokens/", pages.token_list, name="tokens"),
    path("outlets/", outlets.outlet_list, name="outlets"),
    path("mcp-tools/", mcp_tools.mcp_tool_list, name="mcp-tools"),
    path("ledger/", ledger.ledger, name="ledger"),
]
