"""How often people are asked, by what, and which rules past decisions suggest."""
