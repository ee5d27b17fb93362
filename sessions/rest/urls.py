from django.urls import path

from sessions.approvals import api as approvals_api
from sessions.explain import api as explain_api
from sessions.explain import replay_api
from sessions.gate import api as gate_api
from sessions.interruptions import api as interruptions_api
from sessions.mcp_tools import api as mcp_tools_api
from sessions.reconciliation import api as reconciliations_api
from sessions.rest import sessions
from sessions.runs import api as runs_api
from sessions.stops import api as stops_api

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
    path("runs/<str:run_id>/effects", runs_api.RunEffectsView.as_view()),
    path("runs/<str:run_id>/land", runs_api.LandRunView.as_view()),
    path("approvals", approvals_api.ApprovalsView.as_view()),
    path("approvals/decide", approvals_api.DecideManyView.as_view()),
    path("approvals/<str:approval_id>", approvals_api.ApprovalView.as_view()),
    path("approvals/<str:approval_id>/decide", approvals_api.DecideView.as_view()),
    path("stops", stops_api.StopsView.as_view()),
    path("stops/<str:stop_id>", stops_api.StopView.as_view()),
    path("rules", interruptions_api.RulesView.as_view()),
    path("rules/proposals", interruptions_api.ProposalsView.as_view()),
    path("rules/<str:rule_id>", interruptions_api.RuleView.as_view()),
    path("interruptions", interruptions_api.InterruptionsView.as_view()),
    path("mcp-tools", mcp_tools_api.McpToolsView.as_view()),
    path("reconciliations", reconciliations_api.ReconciliationsView.as_view()),
    path("reconciliations/<str:entry_id>", reconciliations_api.ReconciliationView.as_view()),
]
