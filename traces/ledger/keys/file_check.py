"""System check: stop at start when a ledger key file is missing or cannot be used."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error

from traces.ledger.checkpoints import RETIRED_DIRECTORY, KeyFileError, load_or_create_key
from traces.ledger.log_name import FILE_NAME, LogNameError, log_origin

HINT = "Restore the file from a backup, or put the file of an earlier key in its place."


def check_key_files(**_: Any) -> list[CheckMessage]:
    """Check the current and the retired keys. Create none; before the first start there is none yet."""
    path = Path(settings.LEDGER_KEY_FILE)
    retired = sorted((path.parent / RETIRED_DIRECTORY).glob("*.pem"))
    if not path.exists() and retired:
        return [Error(f"{path} is missing, although earlier keys are there.", hint=HINT, id="traces.E001")]
    messages: list[CheckMessage] = []
    for file in [path, *retired] if path.exists() else []:
        try:
            load_or_create_key(file)
        except KeyFileError as error:
            messages.append(Error(str(error), hint=HINT, id="traces.E002"))
    return messages + _check_log_name(path.with_name(FILE_NAME))


def _check_log_name(path: Path) -> list[CheckMessage]:
    try:
        if path.exists():
            log_origin(0)
    except LogNameError as error:
        return [Error(str(error), id="traces.E003")]
    return []
