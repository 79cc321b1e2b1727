"""`python -m teeny` is the `teeny` command."""

import sys

from teeny.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
