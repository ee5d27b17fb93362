from django.apps import AppConfig


class ControlPlaneConfig(AppConfig):
    name = "controlplane"
    verbose_name = "Workspaces"

    def ready(self) -> None:
        import controlplane.checks  # noqa: F401, PLC0415  registers the system checks
