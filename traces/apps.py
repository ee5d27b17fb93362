from django.apps import AppConfig
from django.core.checks import register


class TracesConfig(AppConfig):
    name = "traces"
    verbose_name = "Ledger"

    def ready(self) -> None:
        from traces.ledger.key_check import check_key_files  # noqa: PLC0415 - needs the models

        register(check_key_files)
