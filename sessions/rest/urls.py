from django.urls import path

from sessions.approvals import api as approvals_api
from sessions.explain import api as explain_api
from sessions.explain import replay_api
from sessions.gate import api as gate_api
from sessions.reconciliation import api as reconciliations_api
from sessions.rest import sessions

urlpatterns = [
    path("gate", gate_api.GateView.as_view()),
    path("explain", explain_api.ExplainView.as_view()),
    path("replay", replay_api.ReplayView.as_view()),
    path("sessions", sessions.SessionsView.as_view()),
    path("sessions/<str:session_id>", sessions.SessionView.as_view()),
    path("sessions/<str:session_id>/select-intent", sessions.SelectIntentView.as_view()),
    path("sessions/<str:session_id>/prompt", sessions.PromptView.as_view()),
    path("sessions/<str:session_id>/preflight", sessions.PreflightView.as_view()),
    path("sessions/<str:session_id>/request-scope", sessions.RequestScopeView.as_view()),
    path("sessions/<str:session_id>/complete-intent", sessions.CompleteIntentView.as_view()),
    path("sessions/<str:session_id>/end", sessions.EndSessionView.as_view()),
    path("sessions/<str:session_id>/traces", sessions.SessionTraceView.as_view()),
    path("approvals", approvals_api.ApprovalsView.as_view()),
    path("approvals/<str:approval_id>", approvals_api.ApprovalView.as_view()),
    path("approvals/<str:approval_id>/decide", approvals_api.DecideView.as_view()),
    path("reconciliations", reconciliations_api.ReconciliationsView.as_view()),
    path("reconciliations/<str:entry_id>", reconciliations_api.ReconciliationView.as_view()),
]
