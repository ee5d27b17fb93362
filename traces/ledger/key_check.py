"""A key file that cannot be used stops a start or a command with its name, before anything needs it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error

from traces.ledger.checkpoints import RETIRED_DIRECTORY, KeyFileError, load_or_create_key

HINT = "Put the file back from your backup, or the one of an earlier key into its place."


def check_key_files(**_: Any) -> list[CheckMessage]:
    """The ledger's key and the retired ones. Makes none; a first start has none yet."""
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
    return messages
