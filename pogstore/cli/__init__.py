"""The command line: one file a command. Parses, calls one library function, renders. The only door to click."""
