from django.apps import AppConfig
from django.contrib.admin.apps import AdminConfig


class OperatorAdminConfig(AdminConfig):
    default_site = "controlplane.pages.operator_site.OperatorSite"


class ControlPlaneConfig(AppConfig):
    name = "controlplane"
    verbose_name = "Workspaces"

    def ready(self) -> None:
        import controlplane.checks  # noqa: F401, PLC0415  registers the system checks
