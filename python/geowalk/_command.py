"""The command `geowalk`, which comes with the package."""

import signal
import sys

from ._geowalk import command


def main() -> int:
    """Carries out the command line."""
    # Python would only take note of Ctrl-C and wait for the command to end.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return command(["geowalk", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
