"""What a reviewer has looked at before a decision."""
