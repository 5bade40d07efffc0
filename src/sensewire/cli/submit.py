"""The command `sensewire` as a file for spark-submit, whose master and settings then hold.

    spark-submit --master spark://host:7077 .../sensewire/cli/submit.py match --subscriptions …

Python looks first beside the file that it runs, where our modules are not to be found under their
short names: so this folder is taken out of the way.
"""

import sys
from pathlib import Path

if __name__ == "__main__":
    here = Path(__file__).parent
    sys.path[:] = [place for place in sys.path if not place or Path(place).resolve() != here]
    from sensewire.cli.main import main

    sys.exit(main())
