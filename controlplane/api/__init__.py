"""Shared parts of the REST views: tokens, roles, errors, pagination, parsing."""
