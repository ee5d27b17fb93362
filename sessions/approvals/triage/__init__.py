"""What a reviewer needs before the first look: dangers, calls of one shape, which cards were opened."""
