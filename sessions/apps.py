from django.apps import AppConfig


class SessionsConfig(AppConfig):
    name = "sessions"
    label = "agent_sessions"  # django.contrib.sessions owns the label "sessions"
    verbose_name = "Agent sessions"
