"""Entry of `make`'s set-up: refuses an old Python in plain words, so this file has to parse on any Python 3."""

import sys

OLDEST = (3, 11)

if __name__ == "__main__":
    if sys.version_info[:2] < OLDEST:
        sys.exit(
            "setup: Python 3.11 or newer is needed and %s is Python %d.%d; name another: PYTHON=python3.12 make test"
            % (sys.executable, sys.version_info[0], sys.version_info[1])
        )
    from environment import main

    sys.exit(main(sys.argv[1:]))
