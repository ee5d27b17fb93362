"""Django settings. What an operator may set comes from the environment through `env`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from controlplane.env import read_environment

BASE_DIR = Path(__file__).resolve().parent.parent
ENV = read_environment(BASE_DIR)

DATA_DIR = ENV.data_dir
PUBLIC_URL = ENV.public_url
ICP_PORT = ENV.port
REDIS_URL = ENV.redis_url
RATE_PER_MINUTE = ENV.rate_per_minute
PRIVATE_TARGETS = ENV.private_targets
PUBLIC_LOGS = ENV.public_logs
WITNESS_QUORUM = ENV.witness_quorum
LEDGER_KEY_FILE = DATA_DIR / "ledger_key.pem"
LEDGER_ANCHORS_FILE = DATA_DIR / "ledger_anchors.json"

SECRET_KEY = ENV.secret_key
DEBUG = ENV.debug
ALLOWED_HOSTS = list(ENV.allowed_hosts)
CSRF_TRUSTED_ORIGINS = [ENV.public_url]

INSTALLED_APPS = [
    "controlplane.apps.OperatorAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "channels",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "django_htmx",
    "controlplane.apps.ControlPlaneConfig",
    "intents.apps.IntentsConfig",
    "sessions.apps.SessionsConfig",
    "traces.apps.TracesConfig",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "controlplane.server.middleware.security_headers",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "controlplane.server.middleware.end_idle_sign_ins",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
]

ROOT_URLCONF = "controlplane.urls"
WSGI_APPLICATION = "controlplane.wsgi.application"
ASGI_APPLICATION = "controlplane.asgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "controlplane.pages.context_processors.page_frame",
            ],
        },
    },
]

WAIT_SECONDS = 4  # for a lock or a connection: whoever waits longer is told that the database is unavailable
SQLITE_OPTIONS = {
    # One writer at a time is SQLite's rule: take the lock when a transaction begins, wait for it, and
    # let readers go on. recursive_triggers makes INSERT OR REPLACE meet the ledger's triggers. Each decision
    # touches the same ends of the ledger's indexes: a longer log (16 MB) writes such pages back less often.
    "transaction_mode": "IMMEDIATE",
    "timeout": WAIT_SECONDS,
    "init_command": (
        f"PRAGMA journal_mode=WAL; PRAGMA synchronous={ENV.sqlite_sync}; PRAGMA foreign_keys=ON;"
        "PRAGMA recursive_triggers=ON; PRAGMA cache_size=-32000; PRAGMA temp_store=MEMORY;"
        "PRAGMA wal_autocheckpoint=4000;"
    ),
}
# A server that vanishes without a word is noticed by the kernel; one that hangs, by `database.limits`.
POSTGRESQL_OPTIONS = {
    "connect_timeout": WAIT_SECONDS,
    "tcp_user_timeout": WAIT_SECONDS * 1000,
    "keepalives_idle": WAIT_SECONDS,
    "keepalives_interval": 1,
    "keepalives_count": 3,
}
DATABASES: dict[str, dict[str, Any]] = {
    "default": {**ENV.database, "CONN_MAX_AGE": None, "ATOMIC_REQUESTS": False}
}
if DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3":
    DATABASES["default"]["OPTIONS"] = SQLITE_OPTIONS
    # Tests on a file, as in use (an in-memory database locks whole tables between threads); one a process.
    DATABASES["default"]["TEST"] = {"NAME": DATA_DIR / f"test-{os.getpid()}.sqlite3"}
else:
    given = DATABASES["default"].get("OPTIONS", {})  # of the URL's query
    # A client that vanishes in a transaction, machine and all, would hold its locks until TCP gives up, hours
    # later. So the database, too, looks whether its clients are there.
    limits = (
        f"-c lock_timeout={WAIT_SECONDS * 1000} -c idle_in_transaction_session_timeout=60000"
        " -c tcp_keepalives_idle=5 -c tcp_keepalives_interval=2 -c tcp_keepalives_count=3"
    )
    options = f"{given.get('options', '')} {limits}".strip()
    DATABASES["default"]["OPTIONS"] = {**POSTGRESQL_OPTIONS, **given, "options": options}

if REDIS_URL:
    CHANNEL_LAYERS = {
        "default": {
            "BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer",
            "CONFIG": {"hosts": [REDIS_URL]},
        }
    }
else:
    CHANNEL_LAYERS = {"default": {"BACKEND": "channels.layers.InMemoryChannelLayer"}}

DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "home"
LOGOUT_REDIRECT_URL = "login"

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_I18N = True  # texts are marked for translation; English is the only language so far
LANGUAGES = [("en", "English")]
USE_TZ = True

STATIC_URL = "/static/"
STATIC_ROOT = DATA_DIR / "static"
STATIC_ROOT.mkdir(exist_ok=True)
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = DEBUG

DATA_UPLOAD_MAX_MEMORY_SIZE = (
    32 * 1024 * 1024
)  # a whole ledger file may be posted; the gate has its own limit

SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SECURE_SSL_REDIRECT = ENV.https
SESSION_COOKIE_SAMESITE = "Lax"
SIGN_IN_IDLE_SECONDS = ENV.idle_hours * 3600
SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^readyz$"]
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if ENV.https else None
SECURE_HSTS_SECONDS = 31_536_000 if ENV.https else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = ENV.https
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["controlplane.api.authentication.TokenAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": ["controlplane.api.permissions.HasRole"],
    "DEFAULT_THROTTLE_CLASSES": ["controlplane.api.throttling.TokenThrottle"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["controlplane.api.parsers.StrictJSONParser"],
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "controlplane.api.bodies.SingleRenderer",
    "DEFAULT_SCHEMA_CLASS": "controlplane.api.openapi.Schema",
    "EXCEPTION_HANDLER": "controlplane.api.errors.handle_exception",
    "UNAUTHENTICATED_USER": None,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Intent Control Plane",
    "DESCRIPTION": "Register intents, ask the gate before each tool use, decide approvals, read the ledger.",
    "VERSION": "1",
    "SCHEMA_PATH_PREFIX": r"/api/v1",
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_AUTHENTICATION": [],
    "SERVE_PERMISSIONS": [],
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "COMPONENT_SPLIT_REQUEST": True,
    "POSTPROCESSING_HOOKS": [],  # enums stay with their fields: a name of its own for each says nothing more
}

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "line": {"()": "controlplane.server.logging.LineFormatter"},
        "json": {"()": "controlplane.server.logging.JsonFormatter"},
    },
    "filters": {"repeats": {"()": "controlplane.server.logging.RepeatFilter"}},
    "handlers": {
        "console": {"class": "logging.StreamHandler", "formatter": ENV.log_format, "filters": ["repeats"]}
    },
    "root": {"handlers": ["console"], "level": "INFO"},
}
