"""``python -m gpukernels.simt script.py``: see :mod:`gpukernels.simulator.script`."""

import sys

from gpukernels.simulator.script import main

if __name__ == "__main__":
    sys.exit(main())
