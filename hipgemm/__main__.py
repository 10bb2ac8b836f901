"""`python -m hipgemm`: the command line where its program is not on the path."""

from hipgemm.cli import main

main(prog_name="hipgemm")
