"""Names of secrets: variables, fields, headers, options. And values that look like one and are not."""

from __future__ import annotations

import re

# What a name ends with when its value is a secret. `next_token_index`, `password_hint` and `keys` are none.
LAST_WORDS = (
    r"(?:pass(?:word|wd|phrase|code)|pwd|secret|token|credentials?"
    r"|(?:access|account|admin|api|app|application|auth|client|consumer|decryption|deploy|encryption|functions?"
    r"|host|license|master|private|secret|service|session|shared[_-]?access|signing|storage|subscription|vault"
    r"|webhook)[_-]?key|connection[_-]?string|(?:secret|access)[_-]?key[_-]?(?:id|base)"
    r"|[_-]pass|(?-i:[a-z]Pass)|[_-]pat|webhook[_-]?url|[_-]dsn)"
)
NAME = rf"(?i:[\w.-]{{0,60}}{LAST_WORDS}(?:[_-]?\d{{1,2}}|[_-]?base64)?)"
# Environment variables end with more: KEY alone says little in code, and much in `export STRIPE_KEY=`.
VARIABLE = (
    r"[A-Z0-9_]{0,60}(?:TOKEN|SECRET|KEY|PASSWORD|PASSWD|PASSPHRASE|PASS|PWD|CREDENTIALS?|AUTH|COOKIE|PAT|DSN|SAS"
    r"|WEBHOOK|CONNECTION_STRING|(?:TOKEN|SECRET|KEY|PASSWORD|PASS|WEBHOOK|DATABASE|DB|REDIS)_UR[IL])"
    r"(?:_?\d{1,2}|_(?:BASE64|B64|PROD|PRODUCTION|DEV|STAGING|TEST|LIVE|CI|OLD|NEW))?"
)
HEADER = (
    r"(?i:(?:proxy-)?authorization|private-token|job-token|deploy-token|(?:set-)?cookie2?"
    r"|(?:x-|api-|ocp-)[\w-]{0,60}(?:key|auth|token|secret|signature|session|password|credential)"
    r"|api[_-]?key)"
)
_SECRET_NAME = re.compile(rf"(?:{NAME}|{VARIABLE}|{HEADER}|(?i:[\w-]{{0,60}}cookies?|pass|auth))\Z")
_HEADER_NAME = re.compile(rf"{HEADER}\Z")
_PUBLIC_NAME = re.compile(
    r"(?i)(?:public|primary|foreign|cache|partition|sort|hash|row|object|index|sort|dedup|group|ssh_?host|s3|storage_account"
    r"|page|next(?:_?page)?|continuation|pagination|sync|pad|eos|bos|unk|mask|sep|cls|stop|start|end)[_-]?(?:key|token)\Z"
)
_HARMLESS = re.compile(
    r"(?i)(?:true|false|null|none|nil|undefined|string|str|text|bytes|password|passwd|token|secret|bool|boolean|int"
    r"|integer|number|float|object|any|unknown|never|required|optional|yes|no|bearer|basic|oauth|env|todo|redacted"
    r"|and|or|to|from|is|in|of|for|with|the|file|stdin|prompt|auto|webhook|cookie|session|lax|strict"
    r"|default|example|placeholder|changeme|id|name|value|key|x+|\*+|\.+|-+|…+|#+)\Z"
)
# A variable, a placeholder of a template or a shell: what names a secret, and is none.
_REFERENCE = re.compile(
    r"(?:\$(?:\w+|\{[^}]*\}|\(.*|\{\{.*)|%\w+%|\{\{.*|.*[…:]|<[^>]*>?|\[[^\]]*\]?|%[({s].*|#\{.*|@\{?\w+.*|•.*)\Z",
    re.DOTALL,
)
_ATTRIBUTE = re.compile(r"[A-Za-z_][A-Za-z_]*(?:(?:\.|->|::)[A-Za-z_]\w*)+\Z")
_IDENTIFIER = re.compile(
    r"(?:_?[a-z]+(?:_[a-z]+)+_?|_[a-z]+|[A-Z][A-Z]*_[A-Z_]+|[A-Za-z]*[a-z][A-Z][A-Za-z]*|[A-Z][a-z]+)\Z"
)
_WEAK_NAME = re.compile(r"\A[A-Z0-9_]*(?:KEY|COOKIE|AUTH|PAT|SAS|WEBHOOK|DSN)\d*\Z")
_STRONG_NAME = re.compile(r"(?:SECRET|API|ACCESS|PRIVATE|ENCRYPTION|SIGNING|ACCOUNT)_?KEY\d*\Z")
_SENTENCE = re.compile(r"[^\d]*\s[^\d]*[.?!:…]\Z|[A-Z][^\d]*\s[^\d]*\Z|.*\{.*\}", re.DOTALL)


def is_secret_name(name: str) -> bool:
    """Return whether what stands under this name is a secret."""
    return len(name) <= 120 and _SECRET_NAME.match(name) is not None and _PUBLIC_NAME.search(name) is None


def is_header_name(name: str) -> bool:
    """Return whether a name is that of a header with credentials, whose value is never a sentence."""
    return _HEADER_NAME.match(name) is not None


def is_public_name(name: str) -> bool:
    """Return whether a name ends like one of a secret, and is known to be none: `cache_key`."""
    return _PUBLIC_NAME.search(name) is not None


def is_harmless(value: str) -> bool:
    """Return whether a value is a placeholder, a type, or the name of something else."""
    return _HARMLESS.match(value) is not None or _REFERENCE.match(value) is not None


def is_code(value: str) -> bool:
    """Return whether a bare word in code names something else: `settings.SECRET_KEY`, `new_token`."""
    return _ATTRIBUTE.match(value) is not None or _IDENTIFIER.match(value) is not None


def is_weak_name(name: str) -> bool:
    """Return whether a name holds secrets less often than other texts: a constant like `CLIENT_KEY`."""
    return _WEAK_NAME.search(name) is not None and _STRONG_NAME.search(name) is None


def is_sentence(value: str) -> bool:
    """Return whether a quoted text is for people: "Enter your password."."""
    return _SENTENCE.match(value) is not None
