"""`python -m datalog` is the command line."""

from datalog.cli import main

main()
