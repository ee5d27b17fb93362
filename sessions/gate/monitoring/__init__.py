"""Watch whether sessions really pass the gate, and who tries to get around it."""
