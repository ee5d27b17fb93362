"""Rules that find secrets in text: those of gitleaks as data, and our own for how credentials are passed."""
