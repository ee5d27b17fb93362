"""What became of past approvals, and how reviewers decide."""
