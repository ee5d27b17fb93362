"""The log in the forms of C2SP, for tools that exist: tiles and cosignatures."""
