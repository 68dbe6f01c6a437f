"""`python -m tonopah` is the command `tonopah`."""

import sys

from tonopah.cli.main import main

sys.exit(main())
