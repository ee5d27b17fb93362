"""What waits for a human: `lifecycle` from the asking to the decision, its queue, its card, its grants."""
