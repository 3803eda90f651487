"""``python -m rehi``."""

from rehi.cli import main

main()
