"""What really changed in git, held against the record."""
