"""Agents at work and the people who decide for them: sessions, the gate, approvals."""
