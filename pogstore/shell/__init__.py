"""A command line, taken apart: words, commands, and what well-known programs do with their arguments. Pure."""
