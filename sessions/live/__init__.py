"""What reaches open pages and waiting agents while it happens: events, sockets, held calls."""
