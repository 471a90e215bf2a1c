"""`python -m advisor` is `rooflint`."""

import sys

from advisor.cli import main

sys.exit(main())
