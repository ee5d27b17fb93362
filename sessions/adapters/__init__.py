"""Hooks of real agents: one module for a client, which reads its payloads and speaks its answers."""
