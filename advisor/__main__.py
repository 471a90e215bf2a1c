"""`python -m advisor` is `rooflint`."""

from advisor.cli import main

main()
