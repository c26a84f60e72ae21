"""`python -m pogstore` is `git pog`."""

from pogstore.cli.main import main

main()
