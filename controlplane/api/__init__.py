"""What every REST view of the product shares: tokens, roles, errors, pages, parsing."""
