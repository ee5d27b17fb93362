"""The first run: from an empty database to a workspace with an admin and a first intent."""
