"""Hold the tables that pages and answers read against the entries that they follow from."""
