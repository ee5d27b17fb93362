from django.apps import AppConfig
from django.core.checks import register


class TracesConfig(AppConfig):
    name = "traces"
    verbose_name = "Ledger"

    def ready(self) -> None:
        from traces.counts.counters import discount_files  # noqa: PLC0415 - needs the models
        from traces.ledger.keys.file_check import check_key_files  # noqa: PLC0415 - needs the models
        from traces.ledger.redaction import before_redaction  # noqa: PLC0415 - needs the models
        from traces.verification.registry import register_projection  # noqa: PLC0415 - needs the models

        register_projection("traces.verification.trace_rows.TraceRowsCheck")
        register_projection("traces.verification.subject_rows.build_subjects_check")
        register_projection("traces.entries.excerpts.ExcerptCheck")
        before_redaction(discount_files)
        register(check_key_files)
