"""The palette: jump to whatever has a name."""
